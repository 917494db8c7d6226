//! `export_html`: the session as a page, written while everything else goes on.

use ramal_session::SessionManager;
use ramal_session::json::quote;

use super::Server;
use super::answer::{Refusal, Reply};
use super::request::Request;
use crate::export::{self, Format, Options};

/// Begins an export; none if the command is another one.
pub(super) fn reply(server: &mut Server, request: &Request<'_>) -> Result<Option<Reply>, Refusal> {
    if request.command != "export_html" {
        return Ok(None);
    }
    let out = request.text_if("outputPath")?.map(|path| server.cwd.join(path));
    if let Some(out) = &out
        && Format::of(out) != Format::Html
    {
        return Err(Refusal::new("`outputPath` must be the name of a page, as in `session.html`"));
    }
    let (agent, cwd) = (server.agent.clone(), server.cwd.clone());
    let write = move |session: &SessionManager| {
        let path = out.unwrap_or_else(|| export::free_name(session, &cwd));
        let written = export::html(session, &path, &Options::default());
        written.map_err(|error| Refusal::new(format!("{error:#}")))?;
        Ok(Some(format!("{{\"path\":{}}}", quote(&path.to_string_lossy()))))
    };
    // A page takes as long as the log is large: nobody waits for it who wants the session.
    let beside = agent.with_session(|session| {
        let file = session.get_session_file().filter(|_| session.is_on_disk())?;
        Some((file.to_owned(), session.get_leaf_id().ok()?))
    });
    let Some((file, leaf)) = beside else {
        return agent.with_session(|session| write(session)).map(|data| data.map(Reply::Small));
    };
    let done = tokio::task::spawn_blocking(move || {
        let mut session = SessionManager::open(&file, None)?;
        match leaf {
            Some(leaf) => session.branch(&leaf)?,
            None => session.reset_leaf(),
        }
        write(&session)
    });
    Ok(Some(server.begin(request, async move { done.await? })))
}
