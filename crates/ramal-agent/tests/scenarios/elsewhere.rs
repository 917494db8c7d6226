//! Going on in another directory; leaving a file so that it can be taken away.

use std::path::Path;

use ramal_agent::hooks::BeforeReplace;
use ramal_agent::{AgentConfig, AgentError, AgentEvent, Prompt};
use ramal_session::SessionManager;

use crate::support::*;

/// A directory to go to, and one for its sessions.
fn other(world: &World) -> (std::path::PathBuf, std::path::PathBuf) {
    let dir = world.folder.path().join("other");
    std::fs::create_dir(&dir).unwrap();
    (dir.canonicalize().unwrap(), world.folder.path().join("other sessions"))
}

fn entries(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

#[tokio::test]
async fn the_whole_session_goes_on_in_the_other_directory() {
    let mut world = World::new([text("one"), text("two"), text("other two")]);
    let first = world.say("first").await;
    let answer = world.leaf().unwrap();
    world.session.set_label(&first, Some("here")).unwrap();
    world.say("second").await;
    world.session.with_session(|manager| manager.branch(&answer)).unwrap();
    world.say("another second").await;
    world.session.with_session(|manager| manager.branch(&answer)).unwrap();
    world.session.reconfigure_with(|manager: &SessionManager, before: &AgentConfig| AgentConfig {
        cwd: manager.get_cwd().into(),
        system: format!("At work in {}.", manager.get_cwd()),
        ..before.clone()
    });
    let (old, bytes) = (world.file(), std::fs::read(world.file()).unwrap());
    let (dir, sessions) = other(&world);
    world.told();
    let moved = within(world.session.move_to(Path::new("other"), Some(&sessions))).await.unwrap().unwrap();

    assert_eq!((&moved.cwd, moved.left_file.as_ref()), (&dir, Some(&old)));
    assert_eq!(moved.session_file, world.file());
    assert!(world.file().starts_with(&sessions));
    assert_eq!(world.leaf(), Some(answer), "one stands where one stood");
    assert_eq!(entries(&world.file()), entries(&old), "all branches");
    assert_eq!(std::fs::read(&old).unwrap(), bytes, "the old file stays");
    let header = world.session.with_session(|manager| manager.get_header().json().to_owned());
    let header: serde_json::Value = serde_json::from_str(&header).unwrap();
    assert_eq!(
        (&header["cwd"], &header["parentSession"]),
        (&(*dir.to_string_lossy()).into(), &(*old.to_string_lossy()).into())
    );
    let told = world.all_told();
    assert!(
        matches!(&*told[0], AgentEvent::SessionReplaced { session_file: Some(file), .. } if Path::new(file) == world.file())
    );
    assert_eq!(world.session.cwd(), dir);
    world.say("here now").await;
    assert_eq!(world.model.last(), ["user: first", "assistant: one", "user: here now"]);
    assert_eq!(world.model.requests().last().unwrap().system, format!("At work in {}.", dir.display()));
    assert_eq!(std::fs::read(&old).unwrap(), bytes);
}

#[tokio::test]
async fn tools_work_there_also_where_nobody_says_what_follows() {
    let world = World::new([text("one")]);
    world.say("first").await;
    let (dir, sessions) = other(&world);
    world.put("other/a", "from the other");
    within(world.session.move_to(&dir, Some(&sessions))).await.unwrap().unwrap();
    world.model.script([vec![call("c", "read", r#"{"path":"a"}"#)], text("read")]);
    world.say("read a").await;
    assert!(world.model.last()[4].contains("from the other"), "{:?}", world.model.last());
}

#[tokio::test]
async fn a_session_in_which_nothing_was_said_begins_there() {
    let world = World::new([]);
    world.session.set_model("demo/beta").unwrap();
    world.session.set_session_name("mine").unwrap();
    let planned = world.file();
    let (dir, sessions) = other(&world);
    let moved = within(world.session.move_to(&dir, Some(&sessions))).await.unwrap().unwrap();
    assert_eq!(moved.left_file, None);
    world.say("first").await;
    assert!(world.file().starts_with(&sessions) && world.file().exists() && !planned.exists());
    assert_eq!(world.model.models(), ["beta"]);
    assert_eq!(world.session.with_session(|manager| manager.get_session_name()).as_deref(), Some("mine"));
}

#[tokio::test]
async fn where_it_cannot_go_it_stays() {
    let world = World::new([text("one")]);
    world.say("first").await;
    world.put("a file", "");
    let (file, leaf) = (world.file(), world.leaf());
    for dir in ["none", "a file"] {
        let moved = within(world.session.move_to(Path::new(dir), None)).await;
        assert!(matches!(moved, Err(AgentError::NoSuchDirectory { .. })), "{moved:?}");
    }
    for dir in [".", ""] {
        let moved = within(world.session.move_to(Path::new(dir), None)).await;
        assert!(matches!(moved, Err(AgentError::AlreadyThere { .. })), "{moved:?}");
    }
    let memory = World::in_memory([]);
    let (dir, _) = other(&world);
    let moved = within(memory.session.move_to(&dir, None)).await;
    assert!(matches!(moved, Err(AgentError::OnlyInMemory { .. })));
    assert_eq!((world.file(), world.leaf()), (file, leaf));
    world.takes_a_prompt().await;
}

#[tokio::test]
async fn a_hook_keeps_it_here() {
    let hook = TestHook {
        before_switch: on(|_| async { Ok(BeforeReplace { cancel: true, ..BeforeReplace::default() }) }),
        ..TestHook::default()
    };
    let world = World::hooked([text("one")], [hook]);
    world.say("first").await;
    let file = world.file();
    let (dir, sessions) = other(&world);
    assert_eq!(within(world.session.move_to(&dir, Some(&sessions))).await.unwrap(), None);
    assert_eq!(world.file(), file);
    assert!(!sessions.exists());
}

#[tokio::test]
async fn a_file_that_was_left_can_be_taken_away() {
    let mut world = World::new([text("one"), stall("half"), text("two")]);
    world.say("first").await;
    world.session.prompt(Prompt::text("second")).unwrap();
    world.wait_for("message_update").await;
    let old = world.file();
    assert!(!within(world.session.new_session(None)).await.unwrap());
    let trash = world.folder.path().join("trash.jsonl");
    std::fs::rename(&old, &trash).unwrap();
    let bytes = std::fs::read(&trash).unwrap();
    #[cfg(target_os = "linux")]
    for descriptor in std::fs::read_dir("/proc/self/fd").unwrap() {
        let open = std::fs::read_link(descriptor.unwrap().path()).unwrap_or_default();
        assert!(open != trash && open != old, "it is still open");
    }
    world.say("third").await;
    assert!(!old.exists(), "nothing brings it back");
    assert_eq!(std::fs::read(&trash).unwrap(), bytes);
    assert_eq!(world.path(), ["user: third", "assistant: two"]);
}
