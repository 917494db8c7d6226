//! A session in a folder of its own, a model that plays a script, a user that answers as told, and
//! extensions from `fixtures` or from a text.

use std::collections::VecDeque;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use ramal_agent::compact::CompactionSettings;
use ramal_agent::tools::{self, Access};
use ramal_agent::{AgentConfig, AgentEvent, AgentSession, Permit, Prompt};
use ramal_extension::ui::{Answer as UiAnswer, Notice, Placement, Question};
use ramal_extension::{Always, Extensions, LoadProblem, LogLine, Options, RunError, Ui};
use ramal_model::{
    Answer, AnswerStream, Block, Endpoint, Event, LanguageModel, ModelError, Request, RetryPolicy, Source,
    StopReason, ThinkingLevel, Watch,
};
use ramal_session::SessionManager;
use ramal_testing::endpoint::demo;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

/// What an answer of the model is.
#[derive(Debug, Clone)]
pub(crate) enum Say {
    Text(String),
    Call(&'static str, String),
    /// Nothing comes until it is aborted.
    Never,
    /// The provider has too much to do.
    Busy,
}

pub(crate) fn text(text: &str) -> Say {
    Say::Text(text.into())
}

/// Answers in order, "done" when the script is over.
#[derive(Default)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<Say>>,
    pub(crate) requests: Mutex<Vec<Request>>,
}

impl Scripted {
    fn next(&self, request: &Request) -> Say {
        self.requests.lock().unwrap().push(request.clone());
        self.answers.lock().unwrap().pop_front().unwrap_or_else(|| text("done"))
    }
}

impl LanguageModel for Scripted {
    fn stream_watched(
        &self,
        _: &Endpoint,
        request: &Request,
        watch: Option<Arc<dyn Watch>>,
        abort: CancellationToken,
    ) -> AnswerStream {
        let say = self.next(request);
        let Some(watch) = watch else { return AnswerStream::new(Playing(say), abort) };
        let body = json!({ "system": request.system, "temperature": 1 }).to_string();
        let watching = Box::pin(async move {
            let sent = watch.before(body).await;
            watch.after(429, vec![("retry-after".into(), "1".into())]).await;
            sent
        });
        AnswerStream::new(Watched { watching: Some(watching), playing: Playing(say) }, abort)
    }
}

/// An answer that says what was sent, and then what it says.
struct Watched {
    watching: Option<Pin<Box<dyn Future<Output = String> + Send>>>,
    playing: Playing,
}

impl Source for Watched {
    fn poll_more(
        &mut self,
        cx: &mut Context<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Poll<Result<bool, ModelError>> {
        if let Some(watching) = &mut self.watching {
            let Poll::Ready(sent) = watching.as_mut().poll(cx) else { return Poll::Pending };
            self.watching = None;
            answer.blocks.push(Block::Thinking { thinking: sent, signature: None, redacted: false });
        }
        self.playing.poll_more(cx, answer, out)
    }
}

struct Playing(Say);

impl Source for Playing {
    fn poll_more(
        &mut self,
        _: &mut Context<'_>,
        answer: &mut Answer,
        out: &mut Vec<Event>,
    ) -> Poll<Result<bool, ModelError>> {
        match &self.0 {
            Say::Never => return Poll::Pending,
            Say::Busy => {
                let (provider, message) = ("demo".into(), "too much to do".into());
                return Poll::Ready(Err(ModelError::Overloaded { provider, message, wait: None }));
            }
            Say::Text(text) => {
                answer.blocks.push(Block::Text { text: text.clone(), signature: None });
                out.push(Event::TextStart { block: 0 });
                out.push(Event::TextDelta { block: 0, delta: text.clone() });
                out.push(Event::BlockEnd { block: 0 });
            }
            Say::Call(name, arguments) => {
                answer.blocks.push(Block::ToolCall {
                    id: "call-1".into(),
                    name: (*name).into(),
                    arguments: arguments.clone(),
                    signature: None,
                });
                answer.stop = StopReason::ToolUse;
            }
        }
        Poll::Ready(Ok(false))
    }
}

/// Allows all, and keeps what was asked.
#[derive(Default)]
pub(crate) struct All(pub(crate) Mutex<Vec<(String, Vec<Access>)>>);

impl Permit for All {
    fn may_run<'a>(
        &'a self,
        tool: &'a str,
        _: &'a str,
        access: &'a [Access],
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        self.0.lock().unwrap().push((tool.to_owned(), access.to_vec()));
        Box::pin(async { true })
    }
}

/// Keeps what was shown; answers dialogs in order, and waits for ever when there is no answer left.
#[derive(Default)]
pub(crate) struct User {
    pub(crate) shown: Mutex<Vec<String>>,
    pub(crate) answers: Mutex<VecDeque<String>>,
    pub(crate) editor: Mutex<String>,
}

impl User {
    fn show(&self, text: String) {
        self.shown.lock().unwrap().push(text);
    }

    fn ask(&self, text: String) -> UiAnswer<'_, Option<String>> {
        self.show(text);
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async move {
            match answer {
                Some(answer) => Some(answer).filter(|answer| answer != "-"),
                None => std::future::pending().await,
            }
        })
    }
}

impl Ui for User {
    fn has_ui(&self) -> bool {
        true
    }

    fn select(&self, question: Question, options: Vec<String>) -> UiAnswer<'_, Option<String>> {
        self.ask(format!("select {} {options:?}", question.title))
    }

    fn confirm(&self, question: Question, message: String) -> UiAnswer<'_, bool> {
        let answer = self.ask(format!("confirm {} {message}", question.title));
        Box::pin(async move { answer.await.is_some_and(|answer| answer == "yes") })
    }

    fn input(&self, question: Question, placeholder: Option<String>) -> UiAnswer<'_, Option<String>> {
        self.ask(format!("input {} {placeholder:?}", question.title))
    }

    fn editor(&self, question: Question, prefill: Option<String>) -> UiAnswer<'_, Option<String>> {
        self.ask(format!("editor {} {prefill:?}", question.title))
    }

    fn notify(&self, extension: &str, message: &str, notice: Notice) {
        self.show(format!("notify {extension} {} {message}", notice.name()));
    }

    fn set_status(&self, _: &str, key: &str, text: Option<&str>) {
        self.show(format!("status {key} {text:?}"));
    }

    fn set_widget(&self, _: &str, key: &str, lines: Option<&[String]>, _: Placement) {
        self.show(format!("widget {key} {lines:?}"));
    }

    fn set_title(&self, title: &str) {
        self.show(format!("title {title}"));
    }

    fn set_editor_text(&self, text: &str) {
        *self.editor.lock().unwrap() = text.to_owned();
    }

    fn editor_text(&self) -> String {
        self.editor.lock().unwrap().clone()
    }
}

/// A session with extensions around it.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) session: AgentSession,
    pub(crate) model: Arc<Scripted>,
    pub(crate) extensions: Extensions,
    pub(crate) user: Arc<User>,
    pub(crate) permit: Arc<All>,
    pub(crate) problems: Vec<LoadProblem>,
    pub(crate) log: Arc<Mutex<Vec<LogLine>>>,
    events: UnboundedReceiver<Arc<AgentEvent>>,
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A session with extensions that are written here, and answers of the model.
pub(crate) async fn world(sources: &[&str], answers: impl IntoIterator<Item = Say>) -> World {
    World::new(sources, answers, |_| {}).await
}

impl World {
    /// A source that names a file of `fixtures` stands for that.
    pub(crate) async fn new(
        sources: &[&str],
        answers: impl IntoIterator<Item = Say>,
        change: impl FnOnce(&mut Options),
    ) -> World {
        let folder = tempfile::tempdir().unwrap();
        let paths = sources.iter().enumerate().map(|(at, source)| {
            if !source.contains('\n') && source.ends_with(".ts") {
                return fixture(source);
            }
            let path = folder.path().join(format!("ext{at}.ts"));
            std::fs::write(&path, source).unwrap();
            path
        });
        let paths: Vec<PathBuf> = paths.collect();
        let log: Arc<Mutex<Vec<LogLine>>> = Arc::default();
        let mut options = Options::new(folder.path());
        options.permits = Arc::new(Always::Allow);
        let lines = Arc::clone(&log);
        options.log = Arc::new(move |line| lines.lock().unwrap().push(line.clone()));
        change(&mut options);
        let (extensions, problems) = Extensions::load(&paths, options).await;
        let model = Arc::new(Scripted::default());
        model.answers.lock().unwrap().extend(answers);
        let manager = SessionManager::create(folder.path(), Some(&folder.path().join("sessions"))).unwrap();
        let permit = Arc::new(All::default());
        let session = AgentSession::new(
            manager,
            AgentConfig {
                model: Arc::clone(&model) as Arc<dyn LanguageModel>,
                find_model: Arc::new(|name: &str| match name.strip_prefix("demo/") {
                    Some(model) => Ok(Endpoint { model: model.into(), thinks: true, ..demo(200_000) }),
                    None => Err("there is none".into()),
                }),
                default_model: Some("demo/alpha".into()),
                default_thinking: ThinkingLevel::Off,
                system: "You are a test.".into(),
                tools: extensions.tools(tools::all()),
                permit: Arc::clone(&permit) as Arc<dyn Permit>,
                hooks: extensions.hooks(),
                hook_limit: Duration::from_millis(500),
                retry: RetryPolicy { max_retries: 0, ..RetryPolicy::default() },
                cwd: folder.path().to_owned(),
                summary_reserve: 1000,
                compaction: CompactionSettings { keep_recent_tokens: 1, ..CompactionSettings::default() },
            },
        );
        let events = session.subscribe();
        let user = Arc::new(User::default());
        extensions.set_ui(Arc::clone(&user) as Arc<dyn Ui>);
        extensions.begin(&session, "startup").await;
        World { folder, session, model, extensions, user, permit, problems, log, events }
    }

    /// Says something and waits for the end. Answers the id of the message.
    pub(crate) async fn say(&self, said: &str) -> String {
        within(self.session.prompt_and_wait(Prompt::text(said))).await.unwrap().to_string()
    }

    pub(crate) async fn command(&self, name: &str, args: &str) -> Result<(), RunError> {
        within(self.extensions.run_command(name, args, CancellationToken::new())).await
    }

    pub(crate) fn leaf(&self) -> Option<String> {
        self.session.with_session(|manager| manager.get_leaf_id().unwrap()).map(|id| id.to_string())
    }

    /// What extensions kept with `appendEntry` under a name, in order.
    pub(crate) fn kept(&self, name: &str) -> Vec<Value> {
        let entries = self.entries().into_iter();
        let kept = entries.filter(|entry| entry["type"] == "custom" && entry["customType"] == name);
        kept.map(|entry| entry["data"].clone()).collect()
    }

    pub(crate) fn entries(&self) -> Vec<Value> {
        self.session.with_session(|manager| {
            manager.get_entries().map(|entry| entry.read().unwrap().to_value().unwrap()).collect()
        })
    }

    pub(crate) fn shown(&self) -> Vec<String> {
        std::mem::take(&mut *self.user.shown.lock().unwrap())
    }

    /// The failures of extensions that were told so far: event and error.
    pub(crate) fn failures(&mut self) -> Vec<(&'static str, String)> {
        let told = std::iter::from_fn(|| self.events.try_recv().ok());
        let failures = told.filter_map(|event| match &*event {
            AgentEvent::HookError { event, error, .. } => Some((*event, error.clone())),
            _ => None,
        });
        failures.collect()
    }

    /// Waits until something is the case.
    pub(crate) async fn until(&self, mut holds: impl FnMut() -> bool) {
        within(async {
            while !holds() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }

    /// The session is unharmed: it takes a prompt, and answers.
    pub(crate) async fn goes_on(&self) {
        self.session.must_be_idle().unwrap();
        let before = self.model.requests.lock().unwrap().len();
        self.say("still there?").await;
        assert!(self.model.requests.lock().unwrap().len() > before);
    }
}

/// No scenario waits for ever.
pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(60), work).await {
        Ok(done) => done,
        Err(_) => panic!("it does not end"),
    }
}
