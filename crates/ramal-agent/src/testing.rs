//! For tests: sessions drawn as a line of words, and a model that says what it was told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use ramal_model::{
    Answer, AnswerStream, Block, Endpoint, Event, LanguageModel, ModelError, Request, Source, Usage, Watch,
};
use ramal_session::json::quote;
use ramal_session::{Compaction, Entry, EntryId, SessionManager};
use tokio_util::sync::CancellationToken;

pub(crate) use ramal_testing::endpoint::demo as endpoint;

/// Appends what a drawing says, a word for an entry: a letter and a number of tokens (1 if there is none).
///
/// `u` user, `a` assistant, `c` assistant with a call, `r` and `f` its result or failure, `b` command, `h`
/// command kept out of the context, `x` message of an extension, `s` branch summary, `m` model, `l` label,
/// `n` name, `B` boundary. What an entry says begins with its letter and its position.
pub(crate) fn draw(session: &mut SessionManager, drawing: &str) -> Vec<EntryId> {
    drawing.split_whitespace().map(|word| append(session, word)).collect()
}

pub(crate) fn drawn(drawing: &str) -> (SessionManager, Vec<EntryId>) {
    let mut session = SessionManager::in_memory("/work");
    let ids = draw(&mut session, drawing);
    (session, ids)
}

fn append(session: &mut SessionManager, word: &str) -> EntryId {
    let (kind, tokens) = word.split_at(1);
    let bytes = tokens.parse().unwrap_or(1usize) * 4;
    let at = session.entry_count();
    let text = quote(&format!("{:.<bytes$}", format!("{kind}{at}")));
    let leaf = session.get_leaf_id().unwrap();
    let called = session.get_leaf_entry().into_iter().flat_map(|leaf| {
        std::iter::successors(Some(leaf), |entry| entry.parent()).find(|entry| {
            entry.read().unwrap().message().is_some_and(|message| message.tool_calls().count() > 0)
        })
    });
    let call = called.map(|entry| entry.position()).next().unwrap_or_default();
    let result = |failed: bool| {
        format!(
            r#"{{"role":"toolResult","toolCallId":"call{call}","toolName":"read","content":[{{"type":"text","text":{text}}}],"isError":{failed}}}"#
        )
    };
    let message = match kind {
        "u" => format!(r#"{{"role":"user","content":{text}}}"#),
        "a" => format!(r#"{{"role":"assistant","content":[{{"type":"text","text":{text}}}]}}"#),
        "c" => format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":{text}}},{{"type":"toolCall","id":"call{at}","name":"read","arguments":{{"path":"p{at}"}}}}]}}"#
        ),
        "r" => result(false),
        "f" => result(true),
        "b" => format!(r#"{{"role":"bashExecution","command":{text},"output":"","exitCode":0}}"#),
        "h" => format!(
            r#"{{"role":"bashExecution","command":{text},"output":"","exitCode":0,"excludeFromContext":true}}"#
        ),
        "x" => return session.append_custom_message_entry("note", &text, true, None).unwrap(),
        "s" => {
            return session
                .branch_with_summary(
                    leaf.as_deref(),
                    &ramal_session::json::decode(text.trim_matches('"').as_bytes()),
                    None,
                    None,
                )
                .unwrap();
        }
        "m" => return session.append_model_change("demo", "beta", None).unwrap(),
        "l" => return session.append_label_change(leaf.as_deref().unwrap(), Some("mark")).unwrap(),
        "n" => return session.append_session_info("name").unwrap(),
        "B" => return session.append_reset_boundary().unwrap(),
        other => panic!("{other} is not drawn"),
    };
    session.append_message(&message).unwrap()
}

/// The letter and position with which a message begins that was drawn.
pub(crate) fn word(text: &str) -> String {
    text.split('.').next().unwrap_or_default().to_owned()
}

pub(crate) fn compacted(session: &mut SessionManager, summary: &str, first_kept: &str) -> EntryId {
    session
        .append_compaction(&Compaction {
            summary,
            first_kept_entry_id: first_kept,
            tokens_before: 1,
            ..Compaction::default()
        })
        .unwrap()
}

pub(crate) fn entry(session: &SessionManager, id: &str) -> Entry {
    session.get_entry(id).unwrap().read().unwrap()
}

/// What the model does when it is asked.
#[derive(Debug, Clone)]
pub(crate) enum Say {
    Text(&'static str),
    Fail(ModelError),
    /// The user aborts while the last of it comes.
    TextAndAbort(&'static str, CancellationToken),
    /// It never answers.
    Nothing,
}

/// Answers in order, and remembers what it was asked.
#[derive(Default)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<Say>>,
    requests: Mutex<Vec<Request>>,
}

impl Scripted {
    pub(crate) fn new(answers: impl IntoIterator<Item = Say>) -> Scripted {
        Scripted { answers: Mutex::new(answers.into_iter().collect()), requests: Mutex::default() }
    }

    /// The texts of the requests.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(asked).collect()
    }
}

/// The text of a request.
pub(crate) fn asked(request: &Request) -> String {
    assert_eq!(request.messages.len(), 1);
    assert!(ramal_session::json::is_valid(&request.messages[0]));
    ramal_session::Message::new(&request.messages[0]).text()
}

impl LanguageModel for Scripted {
    fn stream_watched(
        &self,
        _: &Endpoint,
        request: &Request,
        _: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream {
        self.requests.lock().unwrap().push(request.clone());
        AnswerStream::new(self.answers.lock().unwrap().pop_front().unwrap_or(Say::Text("")), abort)
    }
}

impl Source for Say {
    fn poll_more(
        &mut self,
        _: &mut Context<'_>,
        answer: &mut Answer,
        _: &mut Vec<Event>,
    ) -> Poll<Result<bool, ModelError>> {
        answer.usage = Usage { input: 10, output: 1, ..Usage::default() };
        match self {
            Say::Text(text) | Say::TextAndAbort(text, _) => {
                answer.blocks.push(Block::Text { text: (*text).to_owned(), signature: None });
                if let Say::TextAndAbort(_, abort) = self {
                    abort.cancel();
                }
                Poll::Ready(Ok(false))
            }
            Say::Fail(error) => Poll::Ready(Err(error.clone())),
            Say::Nothing => Poll::Pending,
        }
    }
}
