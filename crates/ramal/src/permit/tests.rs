//! What is asked, what is offered with it, and what of the answers holds.

use std::collections::VecDeque;
use std::fs;

use super::*;

/// Gives its answers one after the other, and no where there are none left; keeps what it was asked.
#[derive(Default)]
struct Scripted {
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<(String, Vec<Remember>)>>,
    noticed: Mutex<Vec<String>>,
}

impl Scripted {
    fn with(answers: &[Answer]) -> Arc<Scripted> {
        Arc::new(Scripted { answers: Mutex::new(answers.iter().copied().collect()), ..Scripted::default() })
    }

    fn asked(&self) -> Vec<(String, Vec<Remember>)> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl AsksUser for Scripted {
    fn confirm<'a>(
        &'a self,
        tool: &'a str,
        arguments: &'a str,
        question: &'a Question,
        offered: Vec<Remember>,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        self.asked.lock().unwrap().push((format!("{tool} {arguments}: {}", question.reason), offered));
        Box::pin(std::future::ready(self.answers.lock().unwrap().pop_front().unwrap_or_default()))
    }

    fn notice(&self, message: String) {
        self.noticed.lock().unwrap().push(message);
    }
}

fn asking(cwd: &Path, store: Option<Store>, asks: &Arc<Scripted>) -> Asking {
    let (permissions, problem) = Permissions::new(cwd, Mode::Ask, store);
    assert!(problem.is_none(), "{problem:?}");
    Asking::new(permissions, Arc::clone(asks) as _)
}

fn may_run(permit: &Asking, command: &str) -> bool {
    let access = [Access::Run(command.into())];
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(permit.may_run("bash", "{}", &access))
}

const ONCE: Answer = Answer { is_yes: true, remember: None };
const SESSION: Answer = Answer { is_yes: true, remember: Some(Remember::Session) };
const PROJECT: Answer = Answer { is_yes: true, remember: Some(Remember::Project) };

#[test]
fn an_answer_counts_once_or_for_as_long_as_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let no = Answer { is_yes: false, remember: Some(Remember::Session) };
    let asks = Scripted::with(&[ONCE, no, SESSION]);
    let permit = asking(folder.path(), None, &asks);
    assert!(may_run(&permit, "make test"));
    assert!(!may_run(&permit, "make test"));
    assert!(may_run(&permit, "make test"));
    let asked = asks.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked[0].0.starts_with("bash {}: ") && asked[0].0.contains("make test"), "{asked:?}");
    assert!(asked.iter().all(|(_, offered)| *offered == [Remember::Session]), "{asked:?}");
    // From now on nobody is asked about that, but about everything else.
    assert!(may_run(&permit, "make test"));
    assert_eq!(asks.asked(), []);
    assert!(!may_run(&permit, "rm -r ."));
    assert_eq!(asks.asked().len(), 1);
}

#[test]
fn what_holds_for_the_project_holds_in_the_next_session() {
    let folder = tempfile::tempdir().unwrap();
    let (work, kept) = (folder.path().join("work"), folder.path().join("config/permissions.json"));
    fs::create_dir(&work).unwrap();
    let asks = Scripted::with(&[PROJECT]);
    assert!(may_run(&asking(&work, Some(Store::at(&kept)), &asks), "make test"));
    assert_eq!(asks.asked()[0].1, [Remember::Session, Remember::Project]);
    assert!(may_run(&asking(&work, Some(Store::at(&kept)), &asks), "make test"));
    assert_eq!((asks.asked(), asks.noticed.lock().unwrap().clone()), (vec![], vec![]));
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the file is one of the test")]
fn what_cannot_be_kept_holds_for_the_session_and_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let in_the_way = folder.path().join("config");
    let asks = Scripted::with(&[PROJECT]);
    let permit = asking(folder.path(), Some(Store::at(in_the_way.join("permissions.json"))), &asks);
    fs::write(&in_the_way, "no folder").unwrap();
    assert!(may_run(&permit, "make test"));
    assert!(may_run(&permit, "make test"));
    assert_eq!(asks.asked().len(), 1);
    let noticed = asks.noticed.lock().unwrap().clone();
    assert!(
        matches!(&*noticed, [one] if one.starts_with("remembered for this session only: ")),
        "{noticed:?}"
    );
}

#[test]
fn what_needs_no_question_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let asks = Scripted::with(&[]);
    let (mut permissions, _) = Permissions::new(folder.path(), Mode::Ask, None);
    permissions.set_level("bash", ramal_agent::permission::Level::Deny);
    assert!(!may_run(&Asking::new(permissions, Arc::clone(&asks) as _), "make test"));
    let (permissions, _) = Permissions::new(folder.path(), Mode::Yes, None);
    assert!(may_run(&Asking::new(permissions, Arc::clone(&asks) as _), "make test"));
    assert_eq!(asks.asked(), []);
}
