//! A session put to work: its model, its tools, what they may do, and its system prompt.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ramal_agent::permission::{Decision, Mode, Permissions, Store};
use ramal_agent::tools::{self, Access, Tool};
use ramal_agent::{AgentConfig, AgentSession, FindModel, Permit, context_files, system_prompt};
use ramal_model::catalog::{FindError, local};
use ramal_model::{Catalog, LanguageModel, Models, ThinkingLevel};
use ramal_session::{At, SessionManager};

use crate::catalog;
use crate::failure::{self, Failure};
use crate::settings::Settings;

/// How long a hook may take before the work goes on without it.
const HOOK_LIMIT: Duration = Duration::from_secs(30);

/// Bytes of a file that is named in place of a prompt.
const LONGEST_PROMPT: u64 = 1 << 20;

/// How a model is to work; for every command that lets one.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
pub(crate) struct WorkOptions {
    /// The model, as `ramal models` lists it; else that of the session, of the settings, or the first usable
    #[arg(long, value_name = "PROVIDER/ID", help_heading = HEADING)]
    pub(crate) model: Option<String>,
    /// How much it thinks
    #[arg(long, value_name = "LEVEL", help_heading = HEADING, value_parser = level_parser())]
    pub(crate) thinking: Option<ThinkingLevel>,
    /// Only these tools, separated by commas
    #[arg(long, value_name = "NAMES", help_heading = HEADING, value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,
    /// No tools at all
    #[arg(long, help_heading = HEADING, conflicts_with = "tools")]
    pub(crate) no_tools: bool,
    /// A text, or a file, in place of our own system prompt
    #[arg(long, value_name = "TEXT", help_heading = HEADING)]
    pub(crate) system_prompt: Option<String>,
    /// A text, or a file, at the end of the system prompt
    #[arg(long, value_name = "TEXT", help_heading = HEADING)]
    pub(crate) append_system_prompt: Option<String>,
    /// Allow every call of a tool: to write, to run, to read elsewhere
    #[arg(long, help_heading = HEADING)]
    pub(crate) yes: bool,
}

/// Where help lists these options.
pub(crate) const HEADING: &str = "Talking to a model";

fn level_parser() -> impl clap::builder::TypedValueParser<Value = ThinkingLevel> {
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(ThinkingLevel::ALL.map(ThinkingLevel::name))
        .try_map(|name| name.parse::<ThinkingLevel>())
}

/// A session at work, and what else it was made of.
pub(crate) struct Work {
    /// The session.
    pub(crate) session: AgentSession,
    /// Answers requests.
    pub(crate) models: Arc<dyn LanguageModel>,
    /// Finds models by name.
    pub(crate) find_model: Arc<FindModel>,
}

/// The directory in which a session works: its own.
///
/// # Errors
/// If it is not there any more.
pub(crate) fn directory(manager: &SessionManager) -> anyhow::Result<PathBuf> {
    let cwd = PathBuf::from(manager.get_cwd());
    if cwd.is_dir() {
        return Ok(cwd);
    }
    Err(Failure::new(format!("the directory of this session is not there: {}", cwd.display()))
        .hint("`--fork SESSION` goes on with a copy of it in the directory where you are")
        .into())
}

/// Puts a session to work in `cwd`. A model and a thinking level that the options name are chosen for
/// the session, if they are not those it has.
///
/// Servers on this machine are looked for where the model is not known without them, which takes a
/// runtime: this must not be called on one.
///
/// # Errors
/// If a model or tool is named that is not there, a file cannot be read, or the choice of the model
/// cannot be appended.
pub(crate) fn put_to_work(
    manager: SessionManager,
    cwd: &Path,
    options: &WorkOptions,
    settings: &Settings,
    permit: Arc<dyn Permit>,
) -> anyhow::Result<Work> {
    let own = manager.build_session_context(At::Leaf)?.model("default").map(str::to_owned);
    let wanted = options.model.clone().or(own).or_else(|| settings.model.clone());
    let catalog = models(wanted.as_deref())?;
    let first_usable = || catalog.usable().next().map(|listed| listed.name());
    let default_model = settings.model.clone().or_else(first_usable);
    if wanted.is_none()
        && std::io::stderr().is_terminal()
        && let Some(name) = &default_model
    {
        failure::note(&format!("The model is {name}, the first that can be used; --model names another"));
    }
    let models: Arc<dyn LanguageModel> = Arc::new(Models::default());
    let find_model: Arc<FindModel> = Arc::new(move |name: &str| catalog.find(name).map_err(why));
    let session = AgentSession::new(
        manager,
        AgentConfig {
            model: Arc::clone(&models),
            find_model: Arc::clone(&find_model),
            default_model,
            default_thinking: settings.thinking_level,
            system: system(cwd, options)?,
            tools: chosen_tools(options, settings)?,
            permit,
            hooks: Vec::new(),
            hook_limit: HOOK_LIMIT,
            retry: settings.retry,
            cwd: cwd.to_owned(),
            summary_reserve: settings.summary_reserve,
            compaction: settings.compaction,
        },
    );
    choose(&session, options, &*find_model)?;
    Ok(Work { session, models, find_model })
}

/// The catalog, with the servers on this machine if the wanted model is not in it, or none is wanted
/// and none can be used.
fn models(wanted: Option<&str>) -> anyhow::Result<Catalog> {
    let (mut catalog, problems) = catalog::load();
    for problem in &problems {
        failure::warn(&problem.to_string());
    }
    let is_there = match wanted {
        // One that cannot be used is not looked for elsewhere.
        Some(name) => !matches!(catalog.find(name), Err(FindError::Unknown { .. })),
        None => catalog.usable().next().is_some(),
    };
    if !is_there {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        for found in runtime.block_on(local::find(&local::USUAL, local::LIMIT)) {
            catalog.add_local(found);
        }
    }
    Ok(catalog)
}

/// Why a model cannot be used, where its name is told already.
pub(crate) fn why(error: FindError) -> String {
    match error {
        FindError::Unusable { why, .. } => why,
        error => error.to_string(),
    }
}

/// Appends the model and the thinking level that are wanted for this session.
pub(crate) fn choose(
    session: &AgentSession,
    options: &WorkOptions,
    find_model: &FindModel,
) -> anyhow::Result<()> {
    let choice = session.model_choice()?;
    if let Some(name) = &options.model {
        let endpoint = find_model(name).map_err(|why| {
            Failure::new(format!("the model {name} cannot be used: {why}"))
                .hint("`ramal models` lists those that can")
        })?;
        if choice.model.as_deref() != Some(&*format!("{}/{}", endpoint.provider, endpoint.model)) {
            session.set_model(name)?;
        }
    }
    if let Some(level) = options.thinking.filter(|level| *level != choice.thinking) {
        session.set_thinking_level(level)?;
    }
    Ok(())
}

/// The tools that the options want, or the settings.
pub(crate) fn chosen_tools(options: &WorkOptions, settings: &Settings) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    if options.no_tools {
        return Ok(Vec::new());
    }
    match options.tools.as_ref().or(settings.tools.as_ref()) {
        None => Ok(tools::all()),
        Some(names) => {
            let names: Vec<&str> =
                names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
            tools::named(&names).map_err(|error| Failure::usage(error.to_string()).into())
        }
    }
}

/// The system prompt of a session in `cwd`. The user's own context file is pi's where there is none of ours.
pub(crate) fn system(cwd: &Path, options: &WorkOptions) -> anyhow::Result<String> {
    let own: Vec<PathBuf> =
        [catalog::settings_folder(), catalog::pi_folder()].into_iter().flatten().collect();
    let found = context_files(cwd, &own);
    for (path, error) in &found.problems {
        failure::warn(&format!("{} cannot be read, the model will not know it: {error}", path.display()));
    }
    let own = options.system_prompt.as_deref().map(text_or_file).transpose()?;
    let more = options.append_system_prompt.as_deref().map(text_or_file).transpose()?;
    Ok(system_prompt(cwd, &found.files, own.as_deref(), more.as_deref()))
}

/// The text of the file of that name; the text itself if there is none.
fn text_or_file(text: &str) -> anyhow::Result<String> {
    use std::io::Read as _;
    if text.contains('\n') || !Path::new(text).is_file() {
        return Ok(text.to_owned());
    }
    let failed = |error: std::io::Error| Failure::new(format!("{text} cannot be read: {error}"));
    let mut read = String::new();
    let file = std::fs::File::open(text).map_err(failed)?;
    file.take(LONGEST_PROMPT).read_to_string(&mut read).map_err(failed)?;
    Ok(read)
}

/// What a session in `cwd` may do: the rules of the user, the levels of the settings.
pub(crate) fn permissions(
    manager: &SessionManager,
    cwd: &Path,
    settings: &Settings,
    mode: Mode,
) -> Permissions {
    let (mut permissions, problem) = Permissions::new(cwd, mode, Store::from_environment());
    if let Some(problem) = problem {
        failure::warn(&format!("{:#}", anyhow::Error::new(problem)));
    }
    for (tool, level) in &settings.permissions {
        permissions.set_level(tool, *level);
    }
    if let Some(file) = manager.get_session_file() {
        // The model reads there what was too long for it.
        permissions.allow_reading(&file.with_extension("outputs"));
    }
    permissions
}

/// Decides where nobody can be asked: what would have to be asked for is refused, and said.
pub(crate) struct Unattended(pub(crate) Permissions);

impl Permit for Unattended {
    fn may_run<'a>(
        &'a self,
        tool: &'a str,
        _: &'a str,
        access: &'a [Access],
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        let why = match self.0.decide(tool, access) {
            Decision::Allow => None,
            Decision::Ask(question) => Some(format!("Not allowed: to {}", question.reason)),
            Decision::Deny(why) => Some(why),
        };
        if let Some(why) = &why {
            failure::note(why);
        }
        Box::pin(std::future::ready(why.is_none()))
    }
}
