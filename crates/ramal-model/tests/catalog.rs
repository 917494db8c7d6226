//! Which models there are, by the files that tell of them, and which of them can be used.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::path::Path;
use std::time::Duration;

use ramal_model::catalog::{Catalog, FindError, Origin, Problem, Sources, local};
use ramal_model::{Api, Cost};
use ramal_testing::server::{Reply, Server};

const KEY: &str = "sk-not-to-be-seen";

/// What two files say, with `set` as the environment.
fn load(own: Option<&str>, pi: Option<&str>, set: &[&str]) -> (Catalog, Vec<Problem>) {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: Option<&str>| {
        let path = folder.path().join(name);
        if let Some(text) = text {
            #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
            std::fs::write(&path, text).unwrap();
        }
        Some(path)
    };
    let variables = |name: &str| set.contains(&name).then(|| format!("{KEY}-{name}"));
    let sources = Sources { own: put("models.toml", own), pi: put("models.json", pi), variables: &variables };
    let (catalog, problems) = Catalog::load(&sources);
    for text in [format!("{catalog:?}"), format!("{problems:?}"), format!("{sources:?}")] {
        assert!(!text.contains(KEY), "a key is told: {text}");
    }
    (catalog, problems)
}

fn lines(problems: &[Problem]) -> Vec<(usize, &str)> {
    problems.iter().map(|problem| (problem.line.unwrap(), &*problem.message)).collect()
}

#[test]
fn the_known_models_are_whole() {
    let (catalog, problems) = load(None, None, &[]);
    assert_eq!(problems, []);
    assert_eq!(catalog.usable().count(), 0);
    let mut names = std::collections::HashSet::new();
    for listed in catalog.models() {
        let (name, model) = (listed.name(), listed.model);
        assert!(names.insert(name.clone()), "{name} twice");
        assert!(model.max_output < model.context_window && model.context_window >= 32_000, "{name}");
        assert!(model.cost.input > 0.0 && model.cost.output > model.cost.input, "{name}");
        assert!(model.cost.cache_read < model.cost.input, "{name}");
        assert!(listed.provider.base_url.starts_with("https://"), "{name}");
        assert!(listed.why_not().unwrap().starts_with("no key: set "), "{name}");
    }
    let apis: std::collections::HashSet<_> = catalog.models().map(|listed| listed.api()).collect();
    assert_eq!(apis.len(), 4, "all interfaces have a model");
}

#[test]
fn models_are_found_by_their_names() {
    let (catalog, _) = load(None, None, &["GOOGLE_API_KEY", "GROQ_API_KEY"]);
    let google = catalog.find("google/gemini-2.5-pro").unwrap();
    assert_eq!((google.api, &*google.provider), (Api::GoogleGenerativeAi, "google"));
    assert_eq!(google.key.as_ref().unwrap().reveal(), "sk-not-to-be-seen-GOOGLE_API_KEY");
    assert_eq!(catalog.find(" gemini-2.5-pro ").unwrap().model, "gemini-2.5-pro");
    // An id with a slash is an id.
    assert_eq!(catalog.find("openai/gpt-oss-20b").unwrap().provider, "groq");
    assert_eq!(catalog.find("groq/openai/gpt-oss-20b").unwrap().model, "openai/gpt-oss-20b");
    let FindError::Unusable { name, why } = catalog.find("claude-opus-5-5").unwrap_err() else { panic!() };
    assert_eq!((&*name, &*why), ("anthropic/claude-opus-5-5", "no key: set ANTHROPIC_API_KEY"));
    let FindError::Unknown { near, .. } = catalog.find("gemini-2.5-por").unwrap_err() else { panic!() };
    assert_eq!(near[0], "google/gemini-2.5-pro");
    let text = catalog.find("opus").unwrap_err().to_string();
    assert!(text.contains("did you mean") && text.contains("anthropic/claude-opus-5-5"), "{text}");
    for name in ["", "/", "nothing-of-that-kind", "replay/"] {
        assert!(matches!(catalog.find(name), Err(FindError::Unknown { .. })), "{name}");
    }
    let replay = catalog.find("replay/some/file.jsonl").unwrap();
    assert_eq!((replay.api, &*replay.provider, &*replay.model), (Api::Replay, "replay", "some/file.jsonl"));
}

#[test]
fn an_id_of_several_providers_is_that_of_the_one_with_a_key() {
    let both = r#"
        [providers.a]
        api = "openai-completions"
        base_url = "http://a/"
        api_key_env = "A_KEY"
        models = [{ id = "m", context_window = 10, max_output = 5 }]
        [providers.b]
        api = "openai-completions"
        base_url = "http://b"
        api_key_env = ["B_KEY", "C_KEY"]
        models = [{ id = "m", context_window = 10, max_output = 5 }]
    "#;
    assert_eq!(load(Some(both), None, &["C_KEY"]).0.find("m").unwrap().provider, "b");
    for set in [&[][..], &["A_KEY", "B_KEY"]] {
        let error = load(Some(both), None, set).0.find("m").unwrap_err();
        assert_eq!(error.to_string(), "\"m\" may be a/m or b/m");
    }
    assert_eq!(load(Some(both), None, &["A_KEY"]).0.find("a/m").unwrap().base_url, "http://a");
}

#[test]
fn the_users_own_file_goes_first() {
    let own = r#"
[providers.local]
api = "openai-completions"
base_url = "http://127.0.0.1:8080/v1"
api_key = "none"
headers = { X-One = "1" }
[[providers.local.models]]
id = "smollm2"
context_window = 8192
max_output = 1024

[providers.anthropic]
base_url = "https://proxy.example"
api_key_env = "PROXY_KEY"
[[providers.anthropic.models]]
id = "claude-opus-5-5"
max_output = 1000
cost = { input = 1, output = 2.5 }
[[providers.anthropic.models]]
id = "claude-next"
context_window = 0x1000
max_output = 1_000
thinks = true
sees = true
"#;
    let pi = r#"{"providers":{"never":{"baseUrl":"http://x","api":"openai-completions","models":[{"id":"read"}]}}}"#;
    let (catalog, problems) = load(Some(own), Some(pi), &["PROXY_KEY", "ANTHROPIC_API_KEY"]);
    assert_eq!(problems, []);
    let local = catalog.find("local/smollm2").unwrap();
    assert_eq!((local.context_window, local.max_output, local.thinks), (8192, 1024, false));
    assert_eq!((local.key.unwrap().reveal(), &*local.headers[0].0), ("none", "X-One"));
    let opus = catalog.find("anthropic/claude-opus-5-5").unwrap();
    assert_eq!(
        (&*opus.base_url, opus.context_window, opus.max_output),
        ("https://proxy.example", 1_000_000, 1000)
    );
    assert!(opus.thinks && opus.key.unwrap().reveal().ends_with("PROXY_KEY"));
    assert_eq!(opus.cost, Cost { input: 1.0, output: 2.5, ..Cost::default() });
    assert_eq!(catalog.find("claude-next").unwrap().context_window, 4096);
    assert!(catalog.find("read").is_err(), "pi's file is not read beside ours");
}

#[test]
fn what_is_wrong_is_named_by_its_line_and_the_rest_counts() {
    let own = "\
oops = 1
[providers.a]
api = \"smoke-signals\"
[providers.b]
api = \"openai-completions\"
base_url = 7
[providers.c]
api = \"openai-completions\"
base_url = \"http://c\"
api_key = \"x\"
api_key_env = \"Y\"
color = \"red\"
[[providers.c.models]]
id = \"fine\"
context_window = 10
max_output = 5
thinks = \"yes\"
cost = { input = -1, lunch = 3 }
[[providers.c.models]]
context_window = 10
[[providers.c.models]]
id = \"short\"
context_window = 10
";
    let (catalog, problems) = load(Some(own), None, &[]);
    let wanted = [
        (1, "`oops` means nothing in models.toml"),
        (
            3,
            "`api` must be one of anthropic-messages, openai-completions, openai-responses, google-generative-ai",
        ),
        (6, "`base_url` must be a text that is not empty"),
        (11, "a provider has one of `api_key`, `api_key_env` and `api_key_command`; the first counts"),
        (12, "`color` means nothing for a provider"),
        (17, "`thinks` must be true or false"),
        (18, "`input` must be a price in dollars for a million tokens"),
        (18, "`lunch` means nothing for a cost"),
        (20, "a model has no id; it is left out"),
        (2, "the provider \"a\" has no api; it is left out"),
        (4, "the provider \"b\" has no base_url; it is left out"),
        (22, "the model \"short\" has no max_output; it is left out"),
    ];
    let mut found = lines(&problems);
    for (line, message) in wanted {
        let at = found.iter().position(|other| *other == (line, message));
        found.remove(at.unwrap_or_else(|| panic!("{line} {message} in {found:?}")));
    }
    assert_eq!(found, []);
    assert!(problems[0].to_string().contains("models.toml, line 1: "));
    assert_eq!(catalog.find("c/fine").unwrap().key.unwrap().reveal(), "x");
    // Half of a file is better than none of it.
    let broken = "[providers.c]\napi = \"openai-completions\"\nbase_url = \"http://c\"\nmodels = [{ id = \"m\", context_window = 9, max_output = 3 }]\n[providers.d\nx = \n";
    let (catalog, problems) = load(Some(broken), None, &[]);
    assert!(lines(&problems).iter().all(|(line, _)| *line >= 5) && !problems.is_empty(), "{problems:?}");
    assert!(catalog.find("c/m").is_ok());
}

#[test]
fn a_file_of_pi_is_read_as_pi_reads_it() {
    let pi = r#"{
  // Mine.
  "providers": {
    "ollama": {
      "baseUrl": "http://localhost:11434/v1", "api": "openai-completions", "apiKey": "ollama",
      "models": [
        {"id": "llama3.1:8b"},
        {"id": "seer", "reasoning": true, "input": ["text", "image"], "contextWindow": 32000, "maxTokens": 4000,
         "cost": {"input": 1, "output": 2, "cacheRead": 0.5, "cacheWrite": 0}, "compat": {"odd": [1]}},
        {"name": "nobody"},
      ],
    },
    "named": {"baseUrl": "http://n", "apiKey": "NAMED", "models": [
        {"id": "a", "api": "anthropic-messages"}, {"id": "b", "api": "smoke-signals"}]},
    "dollar": {"baseUrl": "http://d", "api": "openai-responses", "apiKey": "${SOME}", "models": [{"id": "d"}]},
    "absent": {"baseUrl": "http://d", "api": "openai-responses", "apiKey": "ABSENT_API_KEY", "models": [{"id": "e"}]},
    "run": {"baseUrl": "http://r", "api": "openai-completions", "apiKey": "!echo run", "models": [{"id": "r"}]},
    "broken": {"baseUrl": 7},
    "anthropic": {"baseUrl": "http://proxy"}
  }
}"#;
    let (catalog, problems) = load(None, Some(pi), &["NAMED", "SOME", "ANTHROPIC_API_KEY"]);
    let found: Vec<usize> = lines(&problems).iter().map(|(line, _)| *line).collect();
    assert_eq!(found, [9, 10, 14, 18, 18], "{problems:?}");
    let llama = catalog.find("ollama/llama3.1:8b").unwrap();
    assert_eq!(
        (llama.key.unwrap().reveal(), llama.context_window, llama.max_output),
        ("ollama", 128_000, 16_384)
    );
    let seer = catalog.find("seer").unwrap();
    assert!(seer.thinks && seer.sees && seer.context_window == 32_000 && seer.cost.cache_read == 0.5);
    let named = catalog.find("named/a").unwrap();
    assert!(named.api == Api::AnthropicMessages && named.key.unwrap().reveal().ends_with("NAMED"));
    assert!(catalog.find("named/b").is_err());
    assert!(catalog.find("dollar/d").unwrap().key.unwrap().reveal().ends_with("SOME"));
    assert!(catalog.find("absent/e").unwrap_err().to_string().contains("set ABSENT_API_KEY"));
    assert_eq!(catalog.find("claude-haiku-4-5").unwrap().base_url, "http://proxy");
    let origins: Vec<Origin> = catalog.providers().iter().map(|provider| provider.origin).collect();
    assert!(origins.contains(&Origin::Pi) && origins.contains(&Origin::Known));
    #[cfg(unix)]
    assert_eq!(catalog.find("run/r").unwrap().key.unwrap().reveal(), "run");
    for broken in ["", "[]", "{\"providers\": {\"a\": {", "{\"providers\": []}", "\u{feff}{}"] {
        let (catalog, _) = load(None, Some(broken), &[]);
        assert!(catalog.models().count() > 10, "{broken}");
    }
}

#[test]
fn headers_of_pi_are_resolved_as_its_keys_are() {
    let pi = r#"{"providers": {
        "p": {"baseUrl": "http://p", "api": "openai-completions", "apiKey": "$SOME", "authHeader": true,
            "headers": {"X-Named": "MYHEADER", "X-In": "Team ${SOME}!", "X-Plain": "$$5", "x-both": "provider"},
            "models": [{"id": "m", "headers": {"X-Both": "model", "X-Own": "$SOME"}}, {"id": "n"}]},
        "q": {"baseUrl": "http://q", "api": "openai-completions", "headers": {"X-Team": "$NOWHERE"}, "models": [{"id": "q"}]}
    }}"#;
    let (catalog, problems) = load(None, Some(pi), &["SOME", "MYHEADER"]);
    assert_eq!(problems, []);
    let headers = |model: &str| -> Vec<(String, String)> {
        let found = catalog.find(model).unwrap();
        found.headers.into_iter().map(|(name, value)| (name, value.reveal().to_owned())).collect()
    };
    let some = format!("{KEY}-SOME");
    let of = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let (bearer, named, inside) =
        (format!("Bearer {some}"), format!("{KEY}-MYHEADER"), format!("Team {some}!"));
    let all = [("Authorization", &*bearer), ("X-Named", &named), ("X-In", &inside), ("X-Plain", "$5")];
    assert_eq!(headers("p/n"), of(&[&all[..], &[("x-both", "provider")]].concat()));
    assert_eq!(headers("p/m"), of(&[&all[..], &[("X-Both", "model"), ("X-Own", &some)]].concat()));
    let error = catalog.find("q/q").unwrap_err().to_string();
    assert_eq!(error, "q/q cannot be used: no value for the header \"X-Team\": set NOWHERE");
}

#[test]
#[cfg(unix)]
fn a_header_of_pi_may_be_what_a_command_prints() {
    let pi = |command: &str| {
        format!(
            r#"{{"providers":{{"p":{{"baseUrl":"http://p","api":"openai-completions","headers":{{"X":"!{command}"}},"models":[{{"id":"m"}}]}}}}}}"#
        )
    };
    let (catalog, _) = load(None, Some(&pi("echo v")), &[]);
    assert_eq!(catalog.find("p/m").unwrap().headers[0].1.reveal(), "v");
    let (catalog, _) = load(None, Some(&pi("echo sk-not-to-be-seen; exit 3")), &[]);
    let error = catalog.find("p/m").unwrap_err().to_string();
    assert!(error.contains("the command for its value for the header \"X\" failed"), "{error}");
    assert!(!error.contains(KEY), "{error}");
}

#[test]
fn what_of_pi_is_not_supported_is_named_once() {
    let pi = r#"{"$schema": "x", "other": 1, "providers": {
  "p": {"name": "P", "baseUrl": "http://p", "api": "openai-completions", "compat": {"a": "sk-not-to-be-seen"},
    "modelOverrides": {"x": {}},
    "models": [
      {"id": "m", "name": "M", "compat": {}, "thinkingLevelMap": {}, "contextWindow": null},
      {"id": "n", "thinkingLevelMap": {}, "cost": {"input": 1, "tiers": []}}
    ]}
}}"#;
    let (catalog, problems) = load(None, Some(pi), &[]);
    let named: Vec<(usize, &str)> = lines(&problems)
        .into_iter()
        .map(|(line, message)| (line, message.split(" is not supported").next().unwrap()))
        .collect();
    let wanted =
        [(1, "`other`"), (2, "`compat`"), (3, "`modelOverrides`"), (5, "`thinkingLevelMap`"), (6, "`tiers`")];
    assert_eq!(named, wanted);
    assert!(catalog.find("p/m").is_ok() && catalog.find("p/n").unwrap().cost.input == 1.0);
}

#[test]
fn nothing_that_stands_in_a_file_is_told_but_where_it_stands() {
    let secret = "sk-not-to-be-seen";
    for wrong in [
        r#""headers": "Bearer S""#,
        r#""headers": ["S"]"#,
        r#""headers": {"X": ["S"]}"#,
        r#""apiKey": ["S"]"#,
        r#""api": "S""#,
        r#""baseUrl": {"S": "S"}"#,
        r#""authHeader": "S""#,
        r#""models": "S""#,
        r#""models": ["S"]"#,
        r#""models": [{"id": "x", "contextWindow": "S", "cost": "S"}]"#,
        r#""models": [{"id": "x", "cost": {"input": "S"}, "reasoning": "S", "input": "S"}]"#,
        r#""models": [{"id": ["S"], "headers": "S"}]"#,
        r#""apiKey": S"#,
        r#""apiKey": "S"#,
        r#""apiKey": "S" "S""#,
        r#""apiKey": "\q S""#,
    ] {
        let wrong = wrong.replace('S', secret);
        let pi = format!("{{\"providers\": {{\n\"p\": {{\n{wrong}\n}}}}}}");
        // The text of every problem is looked through there.
        let (_, problems) = load(None, Some(&pi), &[]);
        let places: Vec<usize> = problems.iter().map(|problem| problem.line.unwrap()).collect();
        assert!(places.iter().any(|line| (3..=4).contains(line)), "{wrong}: {problems:?}");
    }
    for wrong in [
        r#"headers = "Bearer S""#,
        r#"headers = { X = ["S"] }"#,
        r#"api_key = ["S"]"#,
        r#"api_key = S"#,
        r#"api_key = "S"#,
        r#"api_key "S""#,
        r#"api_key = "\q S""#,
        r#"api_key = "S" "S""#,
        r#"api_key = "S" # \u0007"#,
        r#"api_key = 1979-99-99S"#,
        r#"api = "S""#,
        r#"base_url = { S = "S" }"#,
        r#"models = "S""#,
        r#"models = ["S"]"#,
        r#"models = [{ id = "x", context_window = "S", cost = "S", thinks = "S" }]"#,
        r#"models = [{ id = ["S"] }]"#,
        "api_key = \"\"\"\nS",
    ] {
        let wrong = wrong.replace('S', secret).replace("\\u0007", "\u{7}");
        let (_, problems) = load(Some(&format!("\n[providers.p]\n{wrong}\n")), None, &[]);
        assert!(problems.iter().any(|problem| problem.line >= Some(3)), "{wrong}: {problems:?}");
    }
}

#[test]
fn a_file_of_ours_that_says_nothing_hides_nothing() {
    let pi = r#"{"providers":{"p":{"baseUrl":"http://x","api":"openai-completions","models":[{"id":"m"}]}}}"#;
    for own in ["", "# Nothing yet.\n", "[providers]\n"] {
        let (catalog, problems) = load(Some(own), Some(pi), &[]);
        assert!(catalog.find("p/m").is_ok() && problems.is_empty(), "{own:?}");
    }
    // What was meant to be said there must not be replaced by something else.
    let (catalog, problems) = load(Some("[provider.mine]\n"), Some(pi), &[]);
    assert!(catalog.find("p/m").is_err() && !problems.is_empty());
}

#[test]
#[cfg(unix)]
fn a_command_that_gives_no_key_is_told_without_what_it_printed() {
    let own = r#"
        [providers.c]
        api = "openai-completions"
        base_url = "http://c"
        api_key_command = "echo sk-not-to-be-seen; exit 7"
        models = [{ id = "m", context_window = 10, max_output = 5 }]
    "#;
    let (catalog, _) = load(Some(own), None, &[]);
    assert_eq!(catalog.usable().count(), 1, "commands are not run for a list");
    let error = catalog.find("c/m").unwrap_err();
    assert!(
        error.to_string().contains("c/m cannot be used: the command") && !format!("{error:?}").contains(KEY)
    );
}

#[tokio::test]
async fn servers_on_this_machine_are_found() {
    let list = r#"{"object":"list","data":[{"id":"one","max_model_len":32768},{"id":"two","meta":{"n_ctx_train":2048}},{"id":""},{"id":"three"}]}"#;
    let server = Server::start(vec![Reply::json(200, list)]).await;
    let refusing = Server::start(vec![Reply::json(401, list)]).await;
    let web = Server::start(vec![Reply::json(200, "<html>")]).await;
    let port =
        |url: &str| Path::new(url).to_str().unwrap().rsplit(':').next().unwrap().parse::<u16>().unwrap();
    // Nothing listens where somebody has just stopped listening.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let servers = [
        ("mine", port(server.url())),
        ("no", port(refusing.url())),
        ("web", port(web.url())),
        ("gone", gone),
    ];
    let found = local::find(&servers, Duration::from_secs(20)).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(server.requests()[0].path, "/v1/models");
    let (mut catalog, _) = load(None, None, &[]);
    catalog.add_local(found[0].clone());
    let windows: Vec<_> =
        catalog.usable().map(|listed| (listed.name(), listed.model.context_window)).collect();
    assert_eq!(
        windows,
        [("mine/one".into(), 32_768), ("mine/two".into(), 2048), ("mine/three".into(), 8192)]
    );
    assert!(catalog.find("two").unwrap().key.is_none());
    // One that the user has named already stays what it is.
    let own = format!(
        "[providers.named]\napi = \"openai-completions\"\nbase_url = \"http://localhost:{}/v1\"\nmodels = []",
        port(server.url())
    );
    let (mut catalog, _) = load(Some(&own), None, &[]);
    catalog.add_local(found[0].clone());
    assert_eq!(catalog.usable().count(), 0);
}

#[test]
fn a_name_is_looked_up_without_its_key() {
    let own = "[providers.mine]\napi = \"openai-completions\"\nbase_url = \"http://x/v1\"\napi_key_command = \"exit 3\"\n\
               models = [{ id = \"m\", context_window = 10, max_output = 5 }]\n";
    let (catalog, _) = load(Some(own), None, &[]);
    assert!(matches!(catalog.find("mine/m"), Err(FindError::Unusable { .. })));
    for name in ["mine/m", "m", "replay/x", "anthropic/claude-opus-5-5"] {
        assert_eq!(catalog.look_up(name), Ok(()), "{name}");
    }
    assert!(matches!(catalog.look_up("mine/n"), Err(FindError::Unknown { .. })));
}

#[test]
fn the_variables_that_hold_keys_are_known() {
    let own = "[providers.mine]\napi = \"openai-completions\"\nbase_url = \"http://x/v1\"\napi_key_env = [\"A\", \"B\"]\n\
               [providers.openai]\napi_key = \"sk\"\n[providers.broken]\napi_key_env = \"C\"\n";
    let (catalog, _) = load(Some(own), None, &["B"]);
    for name in ["A", "B", "C", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"] {
        assert!(catalog.key_variables().contains(name), "{name} in {:?}", catalog.key_variables());
    }
    let pi =
        r#"{"providers": {"p": {"baseUrl": "http://x", "api": "openai-completions", "apiKey": "PIS_OWN"}}}"#;
    assert!(!load(None, Some(pi), &[]).0.key_variables().contains("PIS_OWN"));
    assert!(load(None, Some(pi), &["PIS_OWN"]).0.key_variables().contains("PIS_OWN"));
}
