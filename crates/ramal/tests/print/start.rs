//! How a turn begins: settings that are wrong, starts that fail, what is known of the user, and which
//! variables the commands see.

use super::*;

const SETTINGS: &str = "home/.config/ramal/settings.toml";

/// A provider in `models.toml`.
fn models_at(server: &Server, key: &str) -> String {
    format!(
        "[providers.mine]\napi = \"openai-completions\"\nbase_url = \"{}/v1\"\n{key}\n\
         [[providers.mine.models]]\nid = \"small\"\ncontext_window = 100000\nmax_output = 1000\n",
        server.url()
    )
}

#[test]
fn the_users_context_file_is_pis_where_ours_is_missing() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let replies = (0..4).map(|_| Reply::sse(chunk("Yes.") + &end())).collect();
    let server = runtime.block_on(Server::start(replies));
    let world = World::new();
    world.write("home/.config/ramal/models.toml", models_at(&server, ""));
    world.write(SETTINGS, "autoTitle = false\n");
    world.write("home/.pi/agent/AGENTS.md", "As pi knows.");
    world.write("home/pi2/CLAUDE.md", "As the other pi knows.");
    let system = |pi: Option<&str>| {
        let mut command = world.command();
        command.args(["-p", "x", "--no-session"]).envs(pi.map(|folder| ("PI_CODING_AGENT_DIR", folder)));
        Run::of(command.output().unwrap()).done();
        server.requests().last().unwrap().json()["messages"][0]["content"].to_string()
    };
    assert!(system(None).contains("As pi knows."));
    assert!(system(Some("~/pi2")).contains("As the other pi knows."));
    let ours = world.write("home/.config/ramal/AGENTS.md", "As we know.");
    let both = system(None);
    assert!(both.contains("As we know.") && !both.contains("As pi knows."), "{both}");
    // An empty one is there all the same.
    world.write("home/.config/ramal/AGENTS.md", "");
    assert!(ours.exists() && !system(None).contains("As pi knows."));
}

#[cfg(unix)]
#[test]
fn what_a_killed_turn_left_is_told_as_the_model_is_told() {
    let call = json!({ "id": "c1", "name": "bash", "arguments": { "command": "echo $$ > begun.tmp; mv begun.tmp begun; exec sleep 600" } });
    let (world, model) = playing(&[json!({ "events": [{ "toolCall": call }] }), text("Done.")]);
    let mut command = world.command();
    command.args(["-p", "go", "--yes"]).args(&model).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while !world.path("work/begun").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Nobody is left to end what it had begun.
    let left: i32 = fs::read_to_string(world.path("work/begun")).unwrap().trim().parse().unwrap();
    // SAFETY: a signal to the process that the command said it is.
    unsafe { libc::kill(left, libc::SIGKILL) };
    let words = "othing is known of its effects";
    let run = say(&world, "again", &model, &["-c"]).done();
    assert!(run.err.contains(words) && !run.err.contains("did not run"), "{}", run.err);
    assert!(world.run(["context", "--json"]).done().out.contains(words));
}
