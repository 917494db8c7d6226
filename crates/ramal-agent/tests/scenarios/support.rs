//! A session in a folder of its own, a model that plays a script, and a hook made of closures.

use std::collections::VecDeque;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use ramal_agent::compact::CompactionSettings;
use ramal_agent::hooks::{
    AgentStart, Answering, BeforeAgentStart, BeforeCompact, BeforeReplace, BeforeTree, BranchPosition,
    CompactPreparation, Compacting, Hook, ModelChange, SwitchReason, ToolCallAnswer, ToolUse, TreeMoved,
    TreePreparation,
};
use ramal_agent::tools::{self, Access};
use ramal_agent::{AgentConfig, AgentEvent, AgentSession, Permit, Prompt};
use ramal_model::{
    Answer, AnswerStream, Block, Endpoint, Event, LanguageModel, ModelError, Request, RetryPolicy, Source,
    StopReason, ThinkingLevel, Usage, Watch,
};
use ramal_session::{At, Kind, SessionManager};
use ramal_testing::endpoint::demo;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

/// What an answer consists of.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Text(String),
    Call(&'static str, &'static str, String),
    Usage(u64),
    Wait(u64),
    Fail(ModelError),
    /// Nothing more comes until the request is aborted.
    Stall,
}

pub(crate) fn text(text: impl Into<String>) -> Vec<Step> {
    vec![Step::Text(text.into())]
}

pub(crate) fn call(id: &'static str, tool: &'static str, arguments: impl Into<String>) -> Step {
    Step::Call(id, tool, arguments.into())
}

pub(crate) fn fail(error: ModelError) -> Vec<Step> {
    vec![Step::Fail(error)]
}

pub(crate) fn stall(said: &str) -> Vec<Step> {
    vec![Step::Text(said.into()), Step::Stall]
}

pub(crate) fn lost() -> ModelError {
    ModelError::ConnectionLost { provider: "demo".into(), message: "gone".into() }
}

pub(crate) fn refused() -> ModelError {
    ModelError::Refused { provider: "demo".into(), message: "no".into() }
}

pub(crate) fn too_long() -> ModelError {
    ModelError::ContextTooLong { message: "too long".into() }
}

/// Answers in order; "done" when the script is over. Remembers what it was asked.
#[derive(Default)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<Vec<Step>>>,
    requests: Mutex<Vec<(Endpoint, Request)>>,
}

impl Scripted {
    pub(crate) fn script(&self, answers: impl IntoIterator<Item = Vec<Step>>) {
        self.answers.lock().unwrap().extend(answers);
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().iter().map(|(_, request)| request.clone()).collect()
    }

    pub(crate) fn models(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(|(endpoint, _)| endpoint.model.clone()).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// The messages of the last request, each as `role: text`.
    pub(crate) fn last(&self) -> Vec<String> {
        self.requests().last().unwrap().messages.iter().map(|message| drawn(message)).collect()
    }
}

/// A message as `role: text`, calls in angle brackets.
pub(crate) fn drawn(message: &str) -> String {
    let message = ramal_session::Message::new(message);
    let calls: String = message.tool_calls().map(|call| format!("<{}>", call.name)).collect();
    format!("{}: {}{calls}", message.get_str("role").unwrap_or_default(), message.text())
}

impl LanguageModel for Scripted {
    fn stream_watched(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        _: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream {
        self.requests.lock().unwrap().push((endpoint.clone(), request.clone()));
        let steps = self.answers.lock().unwrap().pop_front().unwrap_or_else(|| text("done"));
        AnswerStream::new(Playing { steps: steps.into(), wait: None }, abort)
    }
}

struct Playing {
    steps: VecDeque<Step>,
    wait: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Source for Playing {
    fn poll_more(
        &mut self,
        cx: &mut Context<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Poll<Result<bool, ModelError>> {
        if let Some(wait) = &mut self.wait {
            if wait.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.wait = None;
        }
        let block = answer.blocks.len();
        match self.steps.pop_front() {
            None => return Poll::Ready(Ok(false)),
            Some(Step::Text(text)) => {
                answer.blocks.push(Block::Text { text: text.clone(), signature: None });
                out.push(Event::TextStart { block });
                out.push(Event::TextDelta { block, delta: text });
                out.push(Event::BlockEnd { block });
            }
            Some(Step::Call(id, name, arguments)) => {
                out.push(Event::ToolCallStart { block, id: id.into(), name: name.into() });
                out.push(Event::ToolCallDelta { block, delta: arguments.clone() });
                out.push(Event::BlockEnd { block });
                let (id, name) = (id.into(), name.into());
                answer.blocks.push(Block::ToolCall { id, name, arguments, signature: None });
                answer.stop = StopReason::ToolUse;
            }
            Some(Step::Usage(input)) => answer.usage = Usage { input, output: 1, ..Usage::default() },
            Some(Step::Wait(ms)) => {
                self.wait = Some(Box::pin(tokio::time::sleep(Duration::from_millis(ms))));
            }
            Some(Step::Fail(error)) => return Poll::Ready(Err(error)),
            Some(Step::Stall) => {
                self.steps.push_front(Step::Stall);
                return Poll::Pending;
            }
        }
        Poll::Ready(Ok(true))
    }
}

/// `demo/alpha` with a large window, `demo/small` with one of 8000 tokens.
pub(crate) fn find_model(name: &str) -> Result<Endpoint, String> {
    let Some(model) = name.strip_prefix("demo/") else { return Err("there is none".into()) };
    let context_window = if model == "small" { 8000 } else { 200_000 };
    Ok(Endpoint { model: model.into(), thinks: true, ..demo(context_window) })
}

/// Allows everything but commands that begin with `rm`.
struct Careful;

impl Permit for Careful {
    fn may_run<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        access: &'a [Access],
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        let denied =
            access.iter().any(|access| matches!(access, Access::Run(line) if line.starts_with("rm")));
        Box::pin(async move { !denied })
    }
}

/// A session in a folder of its own.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) session: AgentSession,
    pub(crate) model: Arc<Scripted>,
    pub(crate) events: UnboundedReceiver<Arc<AgentEvent>>,
}

pub(crate) fn config(folder: &Path, model: Arc<Scripted>) -> AgentConfig {
    AgentConfig {
        model,
        find_model: Arc::new(find_model),
        default_model: Some("demo/alpha".into()),
        default_thinking: ThinkingLevel::Off,
        system: "You are a test.".into(),
        tools: tools::all(),
        permit: Arc::new(Careful),
        hooks: Vec::new(),
        hook_limit: Duration::from_secs(30),
        retry: RetryPolicy {
            max_retries: 2,
            base_delay: Duration::from_millis(5),
            max_delay: Duration::from_millis(20),
        },
        cwd: folder.to_owned(),
        summary_reserve: 1000,
        compaction: CompactionSettings {
            reserve_tokens: 1000,
            keep_recent_tokens: 100,
            ..CompactionSettings::default()
        },
    }
}

impl World {
    pub(crate) fn new(answers: impl IntoIterator<Item = Vec<Step>>) -> World {
        World::with(answers, |_| {})
    }

    pub(crate) fn with(
        answers: impl IntoIterator<Item = Vec<Step>>,
        change: impl FnOnce(&mut AgentConfig),
    ) -> World {
        let folder = tempfile::tempdir().unwrap();
        let manager = SessionManager::create(folder.path(), Some(&folder.path().join("sessions"))).unwrap();
        World::of(folder, manager, answers, change)
    }

    pub(crate) fn in_memory(answers: impl IntoIterator<Item = Vec<Step>>) -> World {
        let folder = tempfile::tempdir().unwrap();
        let manager = SessionManager::in_memory(folder.path());
        World::of(folder, manager, answers, |_| {})
    }

    pub(crate) fn hooked(
        answers: impl IntoIterator<Item = Vec<Step>>,
        hooks: impl IntoIterator<Item = TestHook>,
    ) -> World {
        let hooks: Vec<Arc<dyn Hook>> =
            hooks.into_iter().map(|hook| Arc::new(hook) as Arc<dyn Hook>).collect();
        World::with(answers, |config| config.hooks = hooks)
    }

    pub(crate) fn of(
        folder: tempfile::TempDir,
        manager: SessionManager,
        answers: impl IntoIterator<Item = Vec<Step>>,
        change: impl FnOnce(&mut AgentConfig),
    ) -> World {
        let model = Arc::new(Scripted::default());
        model.script(answers);
        let mut config = config(folder.path(), Arc::clone(&model));
        change(&mut config);
        let session = AgentSession::new(manager, config);
        let events = session.subscribe();
        World { folder, session, model, events }
    }

    /// Says something and waits for the end. Answers the id of the message.
    pub(crate) async fn say(&self, said: &str) -> String {
        within(self.session.prompt_and_wait(Prompt::text(said))).await.unwrap().to_string()
    }

    /// Writes a file in the folder.
    #[allow(clippy::disallowed_methods, reason = "a file of the test's own")]
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.folder.path().join(name), content).unwrap();
    }

    pub(crate) fn leaf(&self) -> Option<String> {
        self.session.with_session(|manager| manager.get_leaf_id().unwrap()).map(|id| id.to_string())
    }

    /// The conversation on the path to the leaf, each entry as `role: text` or its type.
    pub(crate) fn path(&self) -> Vec<String> {
        self.session.with_session(|manager| {
            let entries = manager.get_branch(None).into_iter().map(|entry| entry.read().unwrap());
            entries
                .map(|entry| match entry.message() {
                    Some(message) => drawn(message.json()),
                    None => entry.type_name().into_owned(),
                })
                .collect()
        })
    }

    /// Id of the entry on any branch whose text this is.
    pub(crate) fn id_of(&self, text: &str) -> String {
        self.session.with_session(|manager| {
            let mut entries = manager.get_entries().map(|entry| entry.read().unwrap());
            let found = entries.find(|entry| entry.text() == text);
            found.unwrap_or_else(|| panic!("nobody said {text:?}")).id().to_string()
        })
    }

    pub(crate) fn entry(&self, id: &str) -> serde_json::Value {
        self.session
            .with_session(|manager| manager.get_entry(id).unwrap().read().unwrap().to_value().unwrap())
    }

    pub(crate) fn count(&self) -> usize {
        self.session.with_session(|manager| manager.entry_count())
    }

    pub(crate) fn count_of(&self, kind: Kind) -> usize {
        self.session
            .with_session(|manager| manager.get_entries().filter(|entry| entry.kind() == kind).count())
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.session.with_session(|manager| manager.get_session_file().unwrap().to_owned())
    }

    /// What a model would be sent now, as JSON texts.
    pub(crate) fn context(&self) -> Vec<String> {
        self.session.with_session(|manager| {
            let context = manager.build_session_context(At::Leaf).unwrap();
            context.model_messages().map(|message| message.unwrap()).collect()
        })
    }

    /// Everything that was told so far, by name; updates of an answer are left out.
    pub(crate) fn told(&mut self) -> Vec<&'static str> {
        let names = self.all_told().into_iter().map(|event| event.name());
        names.filter(|name| *name != "message_update").collect()
    }

    pub(crate) fn all_told(&mut self) -> Vec<Arc<AgentEvent>> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }

    /// Waits until an event of this name comes.
    pub(crate) async fn wait_for(&mut self, name: &str) -> Arc<AgentEvent> {
        within(async {
            loop {
                let event = self.events.recv().await.unwrap();
                if event.name() == name {
                    return event;
                }
            }
        })
        .await
    }

    /// The session takes a prompt, and what it says comes behind what is there (B078).
    pub(crate) async fn takes_a_prompt(&self) {
        self.session.must_be_idle().unwrap();
        let at = self.path();
        self.say("still there?").await;
        let now = self.path();
        assert_eq!(now[..at.len()], at[..]);
        assert_eq!(now[at.len()], "user: still there?");
    }
}

/// No scenario waits for ever.
pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(60), work).await {
        Ok(done) => done,
        Err(_) => panic!("it does not end"),
    }
}

type Handler<A, T> = Box<dyn Fn(A) -> Pin<Box<dyn Future<Output = Result<T, String>> + Send>> + Send + Sync>;

/// A hook made of closures; those that are not there do nothing.
#[derive(Default)]
pub(crate) struct TestHook {
    pub(crate) before_tree: Option<Handler<(TreePreparation, CancellationToken), BeforeTree>>,
    pub(crate) tree: Option<Handler<TreeMoved, ()>>,
    pub(crate) before_branch: Option<Handler<String, BeforeReplace>>,
    pub(crate) branch: Option<Handler<Option<String>, ()>>,
    pub(crate) before_switch: Option<Handler<Option<String>, BeforeReplace>>,
    pub(crate) before_compact: Option<Handler<CompactPreparation, BeforeCompact>>,
    pub(crate) compacting: Option<Handler<Vec<String>, Option<Compacting>>>,
    pub(crate) compact: Option<Handler<(String, bool), ()>>,
    pub(crate) context: Option<Handler<Vec<String>, Option<Vec<String>>>>,
    pub(crate) tool_call: Option<Handler<(String, String), ToolCallAnswer>>,
    pub(crate) tool_result: Option<Handler<String, Option<String>>>,
    pub(crate) before_start: Option<Handler<AgentStart, BeforeAgentStart>>,
    pub(crate) request: Option<Handler<String, Option<String>>>,
    pub(crate) response: Option<Handler<u16, ()>>,
    pub(crate) model: Option<Handler<ModelChange, ()>>,
    pub(crate) thinking: Option<Handler<(ThinkingLevel, ThinkingLevel), ()>>,
}

/// A handler of a [`TestHook`].
pub(crate) fn on<A, T, F>(handler: impl Fn(A) -> F + Send + Sync + 'static) -> Option<Handler<A, T>>
where
    F: Future<Output = Result<T, String>> + Send + 'static,
{
    Some(Box::new(move |argument| Box::pin(handler(argument))))
}

fn asked<A, T: Default + Send + 'static>(
    handler: &Option<Handler<A, T>>,
    argument: impl FnOnce() -> A,
) -> Answering<'static, T> {
    match handler {
        Some(handler) => handler(argument()),
        None => Box::pin(async { Ok(T::default()) }),
    }
}

impl Hook for TestHook {
    fn name(&self) -> &str {
        "test"
    }

    fn session_before_tree<'a>(
        &'a self,
        preparation: &'a TreePreparation,
        signal: CancellationToken,
    ) -> Answering<'a, BeforeTree> {
        asked(&self.before_tree, || (preparation.clone(), signal))
    }

    fn session_tree<'a>(&'a self, moved: &'a TreeMoved, _: CancellationToken) -> Answering<'a, ()> {
        asked(&self.tree, || moved.clone())
    }

    fn session_before_branch<'a>(
        &'a self,
        entry_id: &'a str,
        _: BranchPosition,
    ) -> Answering<'a, BeforeReplace> {
        asked(&self.before_branch, || entry_id.into())
    }

    fn session_branch<'a>(
        &'a self,
        previous_session_file: Option<&'a str>,
        _: CancellationToken,
    ) -> Answering<'a, ()> {
        asked(&self.branch, || previous_session_file.map(Into::into))
    }

    fn session_before_switch<'a>(
        &'a self,
        _: SwitchReason,
        target: Option<&'a str>,
    ) -> Answering<'a, BeforeReplace> {
        asked(&self.before_switch, || target.map(Into::into))
    }

    fn session_before_compact<'a>(
        &'a self,
        preparation: &'a CompactPreparation,
        _: CancellationToken,
    ) -> Answering<'a, BeforeCompact> {
        asked(&self.before_compact, || preparation.clone())
    }

    fn session_compacting<'a>(
        &'a self,
        _: &'a str,
        messages: &'a [String],
    ) -> Answering<'a, Option<Compacting>> {
        asked(&self.compacting, || messages.to_vec())
    }

    fn session_compact<'a>(
        &'a self,
        entry: &'a str,
        from_extension: bool,
        _: CancellationToken,
    ) -> Answering<'a, ()> {
        asked(&self.compact, || (entry.into(), from_extension))
    }

    fn context<'a>(&'a self, messages: &'a [String]) -> Answering<'a, Option<Vec<String>>> {
        asked(&self.context, || messages.to_vec())
    }

    fn tool_call<'a>(&'a self, call: &'a ToolUse) -> Answering<'a, ToolCallAnswer> {
        asked(&self.tool_call, || (call.name.clone(), call.arguments.clone()))
    }

    fn tool_result<'a>(
        &'a self,
        _: &'a ToolUse,
        result: &'a str,
        _: CancellationToken,
    ) -> Answering<'a, Option<String>> {
        asked(&self.tool_result, || result.into())
    }

    fn before_agent_start<'a>(&'a self, start: &'a AgentStart) -> Answering<'a, BeforeAgentStart> {
        asked(&self.before_start, || start.clone())
    }

    fn before_provider_request<'a>(&'a self, payload: &'a str) -> Answering<'a, Option<String>> {
        asked(&self.request, || payload.into())
    }

    fn after_provider_response<'a>(&'a self, status: u16, _: &'a [(String, String)]) -> Answering<'a, ()> {
        asked(&self.response, || status)
    }

    fn model_select<'a>(&'a self, change: &'a ModelChange) -> Answering<'a, ()> {
        asked(&self.model, || change.clone())
    }

    fn thinking_level_select(&self, level: ThinkingLevel, previous: ThinkingLevel) -> Answering<'_, ()> {
        asked(&self.thinking, || (level, previous))
    }
}

/// The session that a hook is a part of; it is known only when it has been made.
#[derive(Clone, Default)]
pub(crate) struct Later(Arc<Mutex<Option<AgentSession>>>);

impl Later {
    pub(crate) fn set(&self, world: &World) {
        *self.0.lock().unwrap() = Some(world.session.clone());
    }

    pub(crate) fn get(&self) -> AgentSession {
        self.0.lock().unwrap().clone().unwrap()
    }
}

/// A place where a hook leaves what it saw.
#[derive(Clone)]
pub(crate) struct Seen<T>(Arc<Mutex<Vec<T>>>);

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Seen(Arc::default())
    }
}

impl<T: Clone> Seen<T> {
    pub(crate) fn push(&self, value: T) {
        self.0.lock().unwrap().push(value);
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }
}
