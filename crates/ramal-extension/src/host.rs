//! All extensions of a program.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ramal_agent::hooks::{Hook, JsonHook};
use ramal_agent::tools::{Tool, take_place};
use ramal_agent::{AgentSession, Prompt};
use ramal_session::json::{self, quote};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::extension::Extension;
use crate::record::{ABORTED, Asking, Record};
use crate::tool::ExtensionTool;
use crate::ui::Ui;
use crate::world::{Options, World};

/// How long all extensions together may take for what they have not heard yet, and again for their end.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Why an extension is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the extension {} was not loaded: {why}", path.display())]
pub struct LoadProblem {
    /// Its file.
    pub path: PathBuf,
    /// What is wrong, where it is known with file and line.
    pub why: String,
}

/// A command of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandInfo {
    /// What is typed behind the slash.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Whether it says what may stand behind it.
    pub completes: bool,
    /// The file of the extension.
    pub extension: PathBuf,
}

/// A key of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortcutInfo {
    /// The key, in the notation of keybinding files.
    pub key: String,
    /// What it does.
    pub description: Option<String>,
    /// The file of the extension.
    pub extension: PathBuf,
}

/// A flag that an extension takes from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagInfo {
    /// Its name without dashes.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Whether it takes no value.
    pub is_switch: bool,
    /// What counts where it is not given.
    pub default: Option<String>,
}

/// Why a command or a key of an extension did not do what it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// No extension has it.
    #[error("no extension has {what}")]
    None {
        /// What was asked for.
        what: String,
    },
    /// The user ended it.
    #[error("{what} was aborted")]
    Aborted {
        /// What was asked for.
        what: String,
    },
    /// It failed.
    #[error("{what} of {} failed: {why}", extension.display())]
    Failed {
        /// What was asked for.
        what: String,
        /// The file of the extension.
        extension: PathBuf,
        /// What went wrong.
        why: String,
    },
}

/// What extensions bring besides themselves: files and folders, from their own folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resources {
    /// Skills.
    pub skills: Vec<PathBuf>,
    /// Prompts.
    pub prompts: Vec<PathBuf>,
    /// Themes.
    pub themes: Vec<PathBuf>,
}

/// What extensions make of what the user typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// This is said.
    Say(Prompt),
    /// An extension took care of it: nothing is said.
    Handled,
}

/// All extensions. A handle: clones are the same.
#[derive(Clone)]
pub struct Extensions {
    world: Arc<World>,
    all: Arc<Vec<Arc<Extension>>>,
}

impl Extensions {
    /// Loads the extensions in these files, each with a thread of its own, all at the same time. They are
    /// asked in this order. To be called within a runtime.
    pub async fn load(paths: &[PathBuf], options: Options) -> (Extensions, Vec<LoadProblem>) {
        let world = World::new(options);
        let mut all = Vec::new();
        let mut problems = Vec::new();
        let mut loading = Vec::new();
        for path in paths {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            match Record::start(&world, path.clone()) {
                Ok(record) => {
                    let extension = Extension(record);
                    loading.push((path, tokio::spawn(async move { (load(&extension).await, extension) })));
                }
                Err(error) => problems.push(LoadProblem { path, why: error.to_string() }),
            }
        }
        for (path, loading) in loading {
            match loading.await {
                Ok((Ok(()), extension)) => all.push(Arc::new(extension)),
                Ok((Err(why), _)) => problems.push(LoadProblem { path, why }),
                Err(error) => problems.push(LoadProblem { path, why: error.to_string() }),
            }
        }
        (Extensions { world, all: Arc::new(all) }, problems)
    }

    /// The extensions, in order.
    pub fn all(&self) -> &[Arc<Extension>] {
        &self.all
    }

    /// The hooks of a session, one for each extension.
    pub fn hooks(&self) -> Vec<Arc<dyn Hook>> {
        let hook = |extension: &Arc<Extension>| Arc::new(JsonHook(Arc::clone(extension))) as Arc<dyn Hook>;
        self.all.iter().map(hook).collect()
    }

    /// The tools of a session: these, and those of the extensions if they may add any. One of theirs stands in
    /// the place of another with its name.
    pub fn tools(&self, mut tools: Vec<Arc<dyn Tool>>) -> Vec<Arc<dyn Tool>> {
        for extension in self.all.iter() {
            let names: Vec<String> =
                extension.0.registered(|registered| registered.tools.keys().cloned().collect());
            for name in names {
                let tool: Arc<dyn Tool> = Arc::new(ExtensionTool { record: Arc::clone(&extension.0), name });
                let more = take_place(&mut tools, tool);
                tools.extend(more.filter(|_| self.world.options.adds_tools));
            }
        }
        tools
    }

    /// Says who shows what they show, and asks what they ask.
    pub fn set_ui(&self, ui: Arc<dyn Ui>) {
        self.world.set_ui(ui);
    }

    /// Puts them around a session, whose hooks they are, and tells them that it begins. `reason` is `startup`,
    /// or `reload` where others were around it before.
    pub async fn begin(&self, session: &AgentSession, reason: &str) {
        self.world.attach(Some(session.clone()));
        self.tell("session_start", format!("{{\"reason\":{}}}", quote(reason))).await;
    }

    /// Waits until they have heard all that was told of the session so far.
    pub async fn have_heard(&self) {
        for extension in self.all.iter() {
            extension.0.has_heard().await;
        }
    }

    /// Tells them that it ends, and ends them: nothing is asked of them any more, and all tools are offered
    /// again. Must be called, or they and the session hold each other.
    pub async fn end(&self, reason: &str) {
        // What was told before is heard before.
        let _ = tokio::time::timeout(LAST_WORDS, self.have_heard()).await;
        let telling = self.tell("session_shutdown", format!("{{\"reason\":{}}}", quote(reason)));
        let _ = tokio::time::timeout(LAST_WORDS, telling).await;
        if let Some(session) = self.world.session() {
            session.set_active_tools(None);
        }
        self.world.end();
        for extension in self.all.iter() {
            extension.0.stop();
        }
    }

    /// Tells all of them something, one after the other; the payload is a JSON object. For what happens
    /// outside of a session: `session_start` after a reload, `model_select`.
    pub async fn tell(&self, event: &str, payload: String) {
        for extension in self.all.iter() {
            self.ask(extension, event, payload.clone(), CancellationToken::new()).await;
        }
    }

    async fn ask(
        &self,
        extension: &Extension,
        event: &str,
        payload: String,
        abort: CancellationToken,
    ) -> Option<Value> {
        match extension.event(event, payload, abort).await {
            Ok(answer) => answer.and_then(|answer| serde_json::from_str(&answer).ok()),
            Err(error) => {
                self.world.report(&extension.0, event, &error);
                None
            }
        }
    }

    /// What they make of what the user typed (the event `input`). `source` is `interactive`, `rpc` or
    /// `extension`; `streaming` is `steer` or `followUp` where it is said while the model works.
    pub async fn input(
        &self,
        mut prompt: Prompt,
        source: &str,
        streaming: Option<&str>,
        abort: &CancellationToken,
    ) -> Input {
        let streaming = streaming.map(|how| format!(",\"streamingBehavior\":{}", quote(how)));
        let streaming = streaming.unwrap_or_default();
        for extension in self.all.iter() {
            let payload = format!(
                "{{\"text\":{},\"images\":[{}],\"source\":{}{streaming}}}",
                quote(&prompt.text),
                prompt.images.join(","),
                quote(source)
            );
            let Some(answer) = self.ask(extension, "input", payload, abort.clone()).await else { continue };
            match answer.get("action").and_then(Value::as_str) {
                Some("handled") => return Input::Handled,
                Some("transform") => {
                    if let Some(text) = answer.get("text").and_then(Value::as_str) {
                        prompt.text = text.to_owned();
                    }
                    if let Some(images) = answer.get("images").and_then(Value::as_array) {
                        prompt.images = images.iter().map(Value::to_string).collect();
                    }
                }
                _ => {}
            }
        }
        Input::Say(prompt)
    }

    /// What one of them did in place of a command of the user's (the event `user_bash`): JSON with `output`,
    /// `exitCode`, `cancelled` and `truncated`; none if the command is to be run.
    pub async fn user_bash(
        &self,
        command: &str,
        exclude_from_context: bool,
        abort: &CancellationToken,
    ) -> Option<String> {
        let cwd = self.world.cwd();
        for extension in self.all.iter() {
            let payload = format!(
                "{{\"command\":{},\"excludeFromContext\":{exclude_from_context},\"cwd\":{}}}",
                quote(command),
                quote(&cwd.to_string_lossy())
            );
            let answer = self.ask(extension, "user_bash", payload, abort.clone()).await;
            if let Some(result) = answer.as_ref().and_then(|answer| answer.get("result")) {
                return Some(result.to_string());
            }
        }
        None
    }

    /// The folders and files that they bring besides themselves (the event `resources_discover`). `reason` is
    /// `startup` or `reload`.
    pub async fn resources(&self, reason: &str) -> Resources {
        let mut all = Resources::default();
        let payload = format!(
            "{{\"cwd\":{},\"reason\":{}}}",
            quote(&self.world.cwd().to_string_lossy()),
            quote(reason)
        );
        for extension in self.all.iter() {
            let abort = CancellationToken::new();
            let Some(answer) = self.ask(extension, "resources_discover", payload.clone(), abort).await else {
                continue;
            };
            let folder = extension.path().parent().unwrap_or(extension.path());
            let paths = |key: &str| {
                let paths = answer.get(key).and_then(Value::as_array).into_iter().flatten();
                paths.filter_map(|path| Some(folder.join(path.as_str()?))).collect::<Vec<_>>()
            };
            all.skills.extend(paths("skillPaths"));
            all.prompts.extend(paths("promptPaths"));
            all.themes.extend(paths("themePaths"));
        }
        all
    }

    /// Their commands, in order. Of two with the same name the first is meant.
    pub fn commands(&self) -> Vec<CommandInfo> {
        let of = |extension: &Arc<Extension>| {
            extension.0.registered(|registered| {
                let commands = registered.commands.iter();
                let info = commands.map(|(name, about)| CommandInfo {
                    name: name.clone(),
                    description: about.description.clone(),
                    completes: about.completes,
                    extension: extension.0.path.clone(),
                });
                info.collect::<Vec<_>>()
            })
        };
        self.all.iter().flat_map(of).collect()
    }

    /// Their keys, in order.
    pub fn shortcuts(&self) -> Vec<ShortcutInfo> {
        let of = |extension: &Arc<Extension>| {
            extension.0.registered(|registered| {
                let shortcuts = registered.shortcuts.iter();
                let info = shortcuts.map(|(key, about)| ShortcutInfo {
                    key: key.clone(),
                    description: about.description.clone(),
                    extension: extension.0.path.clone(),
                });
                info.collect::<Vec<_>>()
            })
        };
        self.all.iter().flat_map(of).collect()
    }

    /// Their flags, in order.
    pub fn flags(&self) -> Vec<FlagInfo> {
        let of = |extension: &Arc<Extension>| {
            extension.0.registered(|registered| {
                let flags = registered.flags.iter();
                let info = flags.map(|(name, about)| FlagInfo {
                    name: name.clone(),
                    description: about.description.clone(),
                    is_switch: about.kind == "boolean",
                    default: about.default.clone(),
                });
                info.collect::<Vec<_>>()
            })
        };
        self.all.iter().flat_map(of).collect()
    }

    /// Runs a command with what was typed behind its name. Ends early when `abort` is cancelled.
    ///
    /// # Errors
    /// If there is none of that name, it failed, or was aborted.
    pub async fn run_command(
        &self,
        name: &str,
        args: &str,
        abort: CancellationToken,
    ) -> Result<(), RunError> {
        let has = |record: &Record| record.registered(|registered| registered.commands.contains_key(name));
        let payload = format!("{{\"args\":{}}}", quote(args));
        self.run("command", name, format!("command {name}"), payload, abort, has).await.map(drop)
    }

    /// Runs what a key of theirs stands for.
    ///
    /// # Errors
    /// As for [`Extensions::run_command`].
    pub async fn run_shortcut(&self, key: &str, abort: CancellationToken) -> Result<(), RunError> {
        let has = |record: &Record| record.registered(|registered| registered.shortcuts.contains_key(key));
        self.run("shortcut", key, format!("shortcut {key}"), "{}".into(), abort, has).await.map(drop)
    }

    /// What could stand behind a command, as far as it was typed: values and labels.
    ///
    /// # Errors
    /// As for [`Extensions::run_command`].
    pub async fn complete(&self, name: &str, prefix: &str) -> Result<Vec<(String, String)>, RunError> {
        let has = |record: &Record| {
            record.registered(|registered| registered.commands.get(name).is_some_and(|about| about.completes))
        };
        let payload = format!("{{\"prefix\":{}}}", quote(prefix));
        let abort = CancellationToken::new();
        let found = self.run("complete", name, format!("command {name}"), payload, abort, has).await?;
        let found: Vec<Value> = serde_json::from_str(&found).unwrap_or_default();
        let text = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
        Ok(found
            .iter()
            .filter_map(|one| {
                let value = text(one, "value")?;
                let label = text(one, "label").unwrap_or_else(|| value.clone());
                Some((value, label))
            })
            .collect())
    }

    /// A message of an extension as the lines it wants to be shown as; none if no extension renders such
    /// messages. `message` is the entry, as JSON text.
    pub async fn render(&self, custom_type: &str, message: &str, expanded: bool) -> Option<Vec<String>> {
        let has =
            |record: &Record| record.registered(|registered| registered.renderers.contains(custom_type));
        self.lines("render", custom_type, message, expanded, has).await
    }

    /// As [`Extensions::render`], for a record of an extension, which the model does not see.
    pub async fn render_entry(&self, custom_type: &str, entry: &str, expanded: bool) -> Option<Vec<String>> {
        let has = |record: &Record| {
            record.registered(|registered| registered.entry_renderers.contains(custom_type))
        };
        self.lines("render_entry", custom_type, entry, expanded, has).await
    }

    async fn lines(
        &self,
        kind: &'static str,
        custom_type: &str,
        entry: &str,
        expanded: bool,
        has: impl Fn(&Record) -> bool,
    ) -> Option<Vec<String>> {
        if !json::is_valid(entry) {
            return None;
        }
        let payload = format!("{{\"message\":{entry},\"expanded\":{expanded}}}");
        let abort = CancellationToken::new();
        let what = format!("render {custom_type}");
        let lines = self.run(kind, custom_type, what, payload, abort, has).await.ok()?;
        let lines: Option<String> = serde_json::from_str(&lines).ok()?;
        Some(lines?.lines().map(str::to_owned).collect())
    }

    async fn run(
        &self,
        kind: &'static str,
        name: &str,
        what: String,
        payload: String,
        abort: CancellationToken,
        has: impl Fn(&Record) -> bool,
    ) -> Result<String, RunError> {
        let Some(extension) = self.all.iter().find(|extension| has(&extension.0)) else {
            return Err(RunError::None { what });
        };
        let limit =
            matches!(kind, "render" | "render_entry" | "complete").then_some(self.world.options.event_time);
        let asking = Asking { kind, name, what: what.clone(), payload, abort, limit, update: None };
        extension.0.ask(asking).await.map_err(|why| match why == ABORTED {
            true => RunError::Aborted { what },
            false => RunError::Failed { what, extension: extension.0.path.clone(), why },
        })
    }
}

async fn load(extension: &Extension) -> Result<(), String> {
    let record = &extension.0;
    let asking = Asking {
        kind: "load",
        name: record.path.to_str().ok_or("its path is not UTF-8")?,
        what: "load".into(),
        payload: "null".into(),
        abort: CancellationToken::new(),
        limit: Some(record.world.options.event_time),
        update: None,
    };
    record.ask(asking).await.map(drop)
}
