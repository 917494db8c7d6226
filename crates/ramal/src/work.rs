//! A session put to work: its model, its tools, and its system prompt.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ramal_agent::tools::{self, Tool, UnknownTool};
use ramal_agent::{AgentConfig, AgentError, AgentSession, FindModel, Permit, context_files, system_prompt};
use ramal_model::catalog::{FindError, Problem};
use ramal_model::{Catalog, Endpoint, Models, ThinkingLevel};
use ramal_session::{At, SessionManager};

use crate::catalog;
use crate::extensions::Crew;
use crate::failure::{self, Failure};
use crate::settings::{NamedModel, Settings};

/// How long a hook may take before the work goes on without it.
pub(crate) const HOOK_LIMIT: Duration = Duration::from_secs(30);

/// How long the program waits at its end for a title that the model was asked for.
pub(crate) const TITLE_LIMIT: Duration = Duration::from_secs(2);

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
    /// Only these tools, separated by commas; extensions bring no others
    #[arg(long, value_name = "NAMES", help_heading = HEADING, value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,
    /// No tools at all, also none of extensions
    #[arg(long, help_heading = HEADING, conflicts_with = "tools")]
    pub(crate) no_tools: bool,
    /// A text, or a file, in place of our own system prompt
    #[arg(long, value_name = "TEXT", help_heading = HEADING)]
    pub(crate) system_prompt: Option<String>,
    /// A text, or a file, at the end of the system prompt
    #[arg(long, value_name = "TEXT", help_heading = HEADING)]
    pub(crate) append_system_prompt: Option<String>,
    /// No title from the model for a new session
    #[arg(long, help_heading = HEADING)]
    pub(crate) no_title: bool,
    /// Load this extension too: a file, or a folder of them
    #[arg(short, long, value_name = "FILE", help_heading = HEADING)]
    pub(crate) extension: Vec<PathBuf>,
    /// Load no extensions but those named with --extension
    #[arg(long, help_heading = HEADING)]
    pub(crate) no_extensions: bool,
    /// A flag that an extension takes
    #[arg(long = "flag", value_name = "NAME[=VALUE]", help_heading = HEADING, value_parser = extension_flag)]
    pub(crate) extension_flags: Vec<(String, String)>,
    /// Allow every call of a tool: to write, to run, to read elsewhere; and extensions what they want
    #[arg(long, help_heading = HEADING)]
    pub(crate) yes: bool,
}

/// A flag and its value; a switch is on.
fn extension_flag(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "true"));
    let name = name.trim_start_matches('-');
    if name.is_empty() {
        return Err("a flag has a name".into());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Where help lists these options.
pub(crate) const HEADING: &str = "Talking to a model";

fn level_parser() -> impl clap::builder::TypedValueParser<Value = ThinkingLevel> {
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(ThinkingLevel::ALL.map(ThinkingLevel::name))
        .try_map(|name| name.parse::<ThinkingLevel>())
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

/// What a session is put to work with: looked for, and found to be there, before anything is written.
pub(crate) struct Prepared {
    catalog: Catalog,
    default_model: Option<String>,
    system: String,
    tools: Vec<Arc<dyn Tool>>,
}

/// Looks for all that a session needs to work in `cwd`: the model that is to answer, its key, the tools,
/// the system prompt. Writes nothing.
///
/// Servers on this machine are looked for where the model is not known without them.
///
/// # Errors
/// If a model or a tool is named that is not there, there is no model at all, or a file cannot be read.
pub(crate) fn prepare(
    session: &SessionManager,
    cwd: &Path,
    options: &WorkOptions,
    settings: &Settings,
) -> anyhow::Result<Prepared> {
    let tools = tools_of_options(options)?.unwrap_or_else(|| tools_of_settings(settings));
    let system = PromptTexts::of(options)?.system(cwd);
    let own = session.build_session_context(At::Leaf)?.model("default").map(str::to_owned);
    let set = settings.models.last().map(|model| model.name.clone());
    let (catalog, problems) = models(options.model.as_ref().or(own.as_ref()).or(set.as_ref()))?;
    for problem in &problems {
        failure::warn(&problem.to_string());
    }
    hide_keys(&catalog, settings);
    let default_model = match (&options.model, own) {
        (Some(name), _) => {
            catalog.find(name).map_err(|error| unusable(name, &why(error)))?;
            set
        }
        (None, Some(name)) => {
            catalog.find(&name).map_err(|error| AgentError::UnusableModel { name, why: why(error) })?;
            set
        }
        (None, None) => Some(usable_default(&catalog, settings)?),
    };
    Ok(Prepared { catalog, default_model, system, tools })
}

/// The model where nobody names one: that of the settings, or the first that can be used.
fn usable_default(catalog: &Catalog, settings: &Settings) -> anyhow::Result<String> {
    if let Some(set) = named_by_settings(settings, |name| catalog.look_up(name)) {
        return match catalog.find(&set.name) {
            Ok(_) => Ok(set.name.clone()),
            Err(error) => {
                let place = format!("it is the `model` of {}, line {}", set.path.display(), set.line);
                Err(unusable(&set.name, &why(error)).hint(place).into())
            }
        };
    }
    let first = catalog.usable().next().ok_or(AgentError::NoModel)?.name();
    if io::stderr().is_terminal() || !settings.models.is_empty() {
        failure::note(&format!("The model is {first}, the first that can be used; --model names another"));
    }
    Ok(first)
}

/// The model of the settings. One that is not there is told with its place, and is as if it were not set.
fn named_by_settings(
    settings: &Settings,
    look_up: impl Fn(&str) -> Result<(), FindError>,
) -> Option<&NamedModel> {
    settings.models.iter().rev().find(|set| match look_up(&set.name) {
        Ok(()) => true,
        Err(error) => {
            failure::warn(&set.problem(format!("{error}; it is passed over")).to_string());
            false
        }
    })
}

/// The model of the settings, if `look_up` knows it, for a program that needs none to begin with. That it
/// can be used is not asked here.
pub(crate) fn default_model(
    settings: &Settings,
    look_up: impl Fn(&str) -> Result<(), FindError>,
) -> Option<String> {
    named_by_settings(settings, look_up).map(|set| set.name.clone())
}

fn unusable(name: &str, why: &str) -> Failure {
    Failure::new(format!("the model {name} cannot be used: {why}"))
        .hint("`ramal models` lists those that can")
}

impl Prepared {
    /// Puts the session to work. A model and a thinking level that the options name are chosen for it, if
    /// they are not those it has.
    ///
    /// # Errors
    /// If the choice cannot be appended.
    pub(crate) fn put_to_work(
        self,
        manager: SessionManager,
        cwd: &Path,
        options: &WorkOptions,
        settings: &Settings,
        permit: Arc<dyn Permit>,
        crew: &Crew,
    ) -> anyhow::Result<AgentSession> {
        let Prepared { catalog, default_model, system, tools } = self;
        let find_model: Arc<FindModel> = Arc::new(move |name: &str| catalog.find(name).map_err(why));
        let session = AgentSession::new(
            manager,
            AgentConfig {
                model: Arc::new(Models::default()),
                find_model: Arc::clone(&find_model),
                default_model,
                default_thinking: settings.thinking_level,
                system,
                tools: crew.tools(tools),
                permit,
                hooks: crew.hooks(),
                hook_limit: HOOK_LIMIT,
                retry: settings.retry,
                cwd: cwd.to_owned(),
                summary_reserve: settings.summary_reserve,
                compaction: settings.compaction,
            },
        );
        session.set_auto_title(settings.auto_title && !options.no_title);
        choose(&session, options, &*find_model)?;
        Ok(session)
    }
}

/// The catalog and what is wrong with its files, with the servers on this machine if the wanted model is
/// not in it, or none is wanted and none can be used.
fn models(wanted: Option<&String>) -> anyhow::Result<(Catalog, Vec<Problem>)> {
    let (mut catalog, problems) = catalog::load();
    let is_there = match wanted {
        // One that cannot be used is not looked for elsewhere.
        Some(name) => !matches!(catalog.look_up(name), Err(FindError::Unknown { .. })),
        None => catalog.usable().next().is_some(),
    };
    if !is_there {
        for found in catalog::found_here()? {
            catalog.add_local(found);
        }
    }
    Ok((catalog, problems))
}

/// Why a model cannot be used, where its name is told already.
pub(crate) fn why(error: FindError) -> String {
    match error {
        FindError::Unusable { why, .. } => why,
        error => error.to_string(),
    }
}

/// The endpoint of a model that is wanted, if one is.
///
/// # Errors
/// If it cannot be used.
pub(crate) fn must_be_usable(
    name: Option<&str>,
    find_model: impl Fn(&str) -> Result<Endpoint, String>,
) -> anyhow::Result<Option<Endpoint>> {
    let Some(name) = name else { return Ok(None) };
    Ok(Some(find_model(name).map_err(|why| unusable(name, &why))?))
}

/// Appends the model and the thinking level that are wanted for this session.
pub(crate) fn choose(
    session: &AgentSession,
    options: &WorkOptions,
    find_model: &FindModel,
) -> anyhow::Result<()> {
    let choice = session.model_choice()?;
    let endpoint = must_be_usable(options.model.as_deref(), find_model)?;
    if let (Some(name), Some(endpoint)) = (&options.model, endpoint)
        && choice.model.as_deref() != Some(&*format!("{}/{}", endpoint.provider, endpoint.model))
    {
        session.set_model(name)?;
    }
    if let Some(level) = options.thinking.filter(|level| *level != choice.thinking) {
        session.set_thinking_level(level)?;
    }
    Ok(())
}

/// The tools that the options want; none if they say nothing of tools.
///
/// # Errors
/// If they name one that there is not.
pub(crate) fn tools_of_options(options: &WorkOptions) -> anyhow::Result<Option<Vec<Arc<dyn Tool>>>> {
    if options.no_tools {
        return Ok(Some(Vec::new()));
    }
    let Some(names) = &options.tools else { return Ok(None) };
    Ok(Some(tools_named(names).map_err(|error| Failure::usage(error.to_string()))?))
}

/// The tools that the settings want. All, where they say nothing of tools, or name one that there is not:
/// that is told.
pub(crate) fn tools_of_settings(settings: &Settings) -> Vec<Arc<dyn Tool>> {
    let Some(names) = &settings.tools else { return tools::all() };
    tools_named(names).unwrap_or_else(|error| {
        failure::warn(&format!("the setting `tools`: {error}; all tools are there"));
        tools::all()
    })
}

fn tools_named(names: &[String]) -> Result<Vec<Arc<dyn Tool>>, UnknownTool> {
    let names: Vec<&str> = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    tools::named(&names)
}

/// Hides the variables that hold keys for models from every command that is run from now on, but for
/// those that the user wants to be seen.
pub(crate) fn hide_keys(catalog: &Catalog, settings: &Settings) {
    let kept = &settings.kept_variables;
    tools::hide_variables(catalog.key_variables().iter().filter(|name| !kept.contains(name)).cloned());
}

/// What the options say of the system prompt.
#[derive(Debug, Clone, Default)]
pub(crate) struct PromptTexts {
    own: Option<String>,
    more: Option<String>,
}

impl PromptTexts {
    /// The texts, or those of the files that are named.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn of(options: &WorkOptions) -> anyhow::Result<PromptTexts> {
        Ok(PromptTexts {
            own: options.system_prompt.as_deref().map(text_or_file).transpose()?,
            more: options.append_system_prompt.as_deref().map(text_or_file).transpose()?,
        })
    }

    /// The system prompt of a session in `cwd`. The user's own context file is pi's where there is none of
    /// ours.
    pub(crate) fn system(&self, cwd: &Path) -> String {
        let own: Vec<PathBuf> =
            [catalog::settings_folder(), catalog::pi_folder()].into_iter().flatten().collect();
        let found = context_files(cwd, &own);
        for (path, error) in &found.problems {
            failure::warn(&format!("{} cannot be read, the model will not know it: {error}", path.display()));
        }
        system_prompt(cwd, &found.files, self.own.as_deref(), self.more.as_deref())
    }
}

/// The text of the file of that name; the text itself if there is none.
fn text_or_file(text: &str) -> anyhow::Result<String> {
    use std::io::Read as _;
    if text.contains('\n') || !Path::new(text).is_file() {
        return Ok(text.to_owned());
    }
    let failed = |error: io::Error| Failure::new(format!("{text} cannot be read: {error}"));
    let mut read = String::new();
    let file = std::fs::File::open(text).map_err(failed)?;
    file.take(LONGEST_PROMPT).read_to_string(&mut read).map_err(failed)?;
    Ok(read)
}
