//! The tools at work: on folders of their own and with real processes.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::*;

mod files;
mod search;
// What leaves its process group is found only where the system shows its processes.
#[cfg(target_os = "linux")]
mod shell;

/// A scratch folder with a working directory in it.
struct Place {
    _folder: tempfile::TempDir,
    cwd: PathBuf,
    overflow: PathBuf,
    abort: CancellationToken,
    updates: Mutex<Vec<String>>,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (cwd, overflow) = (top.join("work"), top.join("outputs/deep"));
        std::fs::create_dir(&cwd).unwrap();
        Place { _folder: folder, cwd, overflow, abort: CancellationToken::new(), updates: Mutex::default() }
    }

    #[allow(clippy::disallowed_methods, reason = "a scratch file of the test")]
    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.cwd.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.cwd.join(name)).unwrap()
    }

    async fn run(&self, tool: &str, arguments: serde_json::Value) -> ToolResult {
        self.run_text(tool, &arguments.to_string()).await
    }

    async fn run_text(&self, tool: &str, arguments: &str) -> ToolResult {
        let update = |text| self.updates.lock().unwrap().push(text);
        let call = Call {
            id: "c1",
            arguments,
            cwd: &self.cwd,
            overflow: Some(&self.overflow),
            abort: self.abort.clone(),
            update: &update,
        };
        let result = named(&[tool]).unwrap()[0].run(call).await;
        if let Some(details) = &result.details {
            assert!(ramal_session::json::is_valid(details), "{details}");
        }
        assert!(result.content.iter().all(|content| *content != Content::Text(String::new())));
        result
    }
}

#[track_caller]
fn text(result: &ToolResult) -> &str {
    match result.content.as_slice() {
        [Content::Text(text)] => text,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn fine(result: &ToolResult) -> &str {
    assert!(!result.is_error, "{result:?}");
    text(result)
}

#[track_caller]
fn failed(result: &ToolResult) -> &str {
    assert!(result.is_error, "{result:?}");
    text(result)
}

fn details(result: &ToolResult) -> serde_json::Value {
    serde_json::from_str(result.details.as_deref().unwrap()).unwrap()
}

#[test]
fn tools_are_chosen_by_name() {
    let names =
        |tools: Vec<Arc<dyn Tool>>| -> Vec<String> { tools.iter().map(|tool| tool.spec().name).collect() };
    assert_eq!(names(all()), ["read", "bash", "edit", "write", "grep", "find", "ls"]);
    assert_eq!(names(named(&["ls", "read", "ls"]).unwrap()), ["read", "ls"]);
    let error = named(&["read", "reed"]).err().unwrap();
    assert!(error.name == "reed" && error.to_string().contains("bash"));
}

#[test]
fn schemas_are_json_of_objects() {
    for tool in all() {
        let schema: serde_json::Value = serde_json::from_str(&tool.spec().parameters).unwrap();
        assert_eq!(schema["type"], "object", "{}", tool.spec().name);
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(schema["properties"][required.as_str().unwrap()].is_object());
        }
    }
}

#[tokio::test]
async fn odd_arguments_are_told_and_do_nothing() {
    let place = Place::new();
    for tool in all() {
        let name = tool.spec().name;
        for arguments in ["[]", "{", "1", "{\"path\":5,\"pattern\":5,\"command\":5}"] {
            failed(&place.run_text(&name, arguments).await);
        }
        assert!(tool.access("{", &place.cwd).is_empty());
    }
}

#[test]
fn a_call_says_what_it_touches() {
    let place = Place::new();
    let outside = place.cwd.parent().unwrap().join("outside");
    let access = |tool: &str, arguments: &str| named(&[tool]).unwrap()[0].access(arguments, &place.cwd);
    let read = |path: &Path| vec![Access::Read(path.to_owned())];
    assert_eq!(access("read", r#"{"path":"a/../b"}"#), read(&place.cwd.join("b")));
    assert_eq!(access("grep", r#"{"pattern":"x"}"#), read(&place.cwd));
    assert_eq!(access("ls", ""), read(&place.cwd));
    assert_eq!(access("find", r#"{"pattern":"x","path":"../outside"}"#), read(&outside));
    assert_eq!(access("bash", r#"{"command":"ls"}"#), [Access::Run("ls".into())]);
    assert_eq!(access("edit", r#"{"path":"/x/./y"}"#), [Access::Write("/x/y".into())]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, place.cwd.join("link")).unwrap();
        // To nothing yet, and then to a folder: a link out of the directory leads out of it.
        assert_eq!(access("write", r#"{"path":"link"}"#), [Access::Write(outside.clone())]);
        std::fs::create_dir(&outside).unwrap();
        assert_eq!(access("read", r#"{"path":"link/x"}"#), read(&outside.join("x")));
    }
}
