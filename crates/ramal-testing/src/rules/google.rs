//! The rules of Gemini.

use serde_json::Value;

/// Checks a body against the reference of `generateContent` (v1beta) and the guides on function
/// calling, thinking and thought signatures. Written from those, not from what is sent.
///
/// # Panics
/// If it breaks a rule.
#[track_caller]
pub fn check(model: &str, body: &Value) {
    only_keys(body, &["contents", "systemInstruction", "tools", "toolConfig", "generationConfig"]);
    let is_third = ["gemini-3", "gemini-4", "gemini-flash-latest"].iter().any(|name| model.starts_with(name));
    if let Some(system) = body.get("systemInstruction") {
        only_keys(system, &["parts", "role"]);
        for part in list(&system["parts"]) {
            only_keys(part, &["text"]);
            assert!(!part["text"].as_str().unwrap().is_empty(), "empty instruction");
        }
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        only_keys(tool, &["functionDeclarations"]);
        for function in list(&tool["functionDeclarations"]) {
            only_keys(function, &["name", "description", "parametersJsonSchema"]);
            check_name(&function["name"]);
            assert_eq!(function["parametersJsonSchema"]["type"], "object", "{function}");
            assert!(function["parametersJsonSchema"].get("$schema").is_none());
        }
    }
    check_settings(is_third, model, &body["generationConfig"]);
    let contents = list(&body["contents"]);
    for (at, content) in contents.iter().enumerate() {
        only_keys(content, &["role", "parts"]);
        let role = if at % 2 == 0 { "user" } else { "model" };
        assert_eq!(content["role"], role, "roles alternate and begin with the user's: {content}");
        list(&content["parts"]).iter().for_each(|part| check_part(role, is_third, part));
        let calls: Vec<&Value> = inside(content, "functionCall");
        if !calls.is_empty() {
            let next = contents.get(at + 1).unwrap_or_else(|| panic!("calls without results: {content}"));
            let results = inside(next, "functionResponse");
            assert_eq!(calls.len(), results.len(), "as many results as calls: {content} {next}");
            for (call, result) in calls.iter().zip(&results) {
                assert_eq!((&call["id"], &call["name"]), (&result["id"], &result["name"]));
            }
            // They come first, next to each other.
            assert!(
                list(&next["parts"])[..results.len()]
                    .iter()
                    .all(|part| part.get("functionResponse").is_some())
            );
            if is_third {
                let first =
                    list(&content["parts"]).iter().find(|part| part.get("functionCall").is_some()).unwrap();
                assert!(
                    first["thoughtSignature"].is_string(),
                    "the first call of a step has a signature: {content}"
                );
            }
        } else if let Some(next) = contents.get(at + 1) {
            assert!(inside(next, "functionResponse").is_empty(), "results without calls: {next}");
        }
    }
    assert!(contents.len() % 2 == 1, "the last is the user's");
}

fn check_part(role: &str, is_third: bool, part: &Value) {
    only_keys(
        part,
        &["text", "thought", "thoughtSignature", "functionCall", "functionResponse", "inlineData"],
    );
    let data = ["text", "functionCall", "functionResponse", "inlineData"];
    assert_eq!(data.iter().filter(|key| part.get(**key).is_some()).count(), 1, "one kind of data: {part}");
    if let Some(signature) = part.get("thoughtSignature") {
        let signature = signature.as_str().unwrap();
        assert_eq!(role, "model");
        assert!(!signature.is_empty());
    } else if let Some(text) = part.get("text") {
        assert!(!text.as_str().unwrap().trim().is_empty(), "empty text");
    }
    if part.get("thought").is_some() {
        assert!(role == "model" && part["text"].is_string(), "{part}");
    }
    if let Some(call) = part.get("functionCall") {
        assert_eq!(role, "model");
        only_keys(call, &["id", "name", "args"]);
        check_name(&call["name"]);
        assert!(call["args"].is_object(), "{call}");
    }
    if let Some(result) = part.get("functionResponse") {
        assert_eq!(role, "user");
        only_keys(
            result,
            if is_third { &["id", "name", "response", "parts"] } else { &["id", "name", "response"] },
        );
        assert!(result["response"].is_object(), "{result}");
        for part in result["parts"].as_array().into_iter().flatten() {
            only_keys(part, &["inlineData"]);
            check_image(&part["inlineData"]);
        }
    }
    if let Some(image) = part.get("inlineData") {
        assert_eq!(role, "user");
        check_image(image);
    }
}

fn check_image(image: &Value) {
    only_keys(image, &["mimeType", "data"]);
    assert!(image["mimeType"].as_str().unwrap().starts_with("image/"));
    assert!(!image["data"].as_str().unwrap().is_empty());
}

fn check_settings(is_third: bool, model: &str, settings: &Value) {
    if settings.is_null() {
        return;
    }
    only_keys(settings, &["maxOutputTokens", "thinkingConfig"]);
    assert!(settings["maxOutputTokens"].as_u64().unwrap() > 0);
    let Some(thinking) = settings.get("thinkingConfig") else { return };
    only_keys(thinking, &["includeThoughts", "thinkingLevel", "thinkingBudget"]);
    if is_third {
        assert!(["minimal", "low", "medium", "high"].contains(&thinking["thinkingLevel"].as_str().unwrap()));
        assert!(thinking.get("thinkingBudget").is_none(), "not both");
        assert!(!model.contains("pro") || thinking["thinkingLevel"] != "minimal");
    } else if model.starts_with("gemini-2.5") {
        let range = if model.contains("pro") { 128..=32_768 } else { 0..=24_576 };
        assert!(range.contains(&thinking["thinkingBudget"].as_u64().unwrap()), "{thinking}");
    }
}

fn check_name(name: &Value) {
    let name = name.as_str().unwrap();
    assert!(name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'), "{name:?}");
    assert!(
        name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.:-".contains(c)),
        "{name:?}"
    );
}

fn inside<'a>(content: &'a Value, key: &str) -> Vec<&'a Value> {
    list(&content["parts"]).iter().filter_map(|part| part.get(key)).collect()
}

fn list(value: &Value) -> &Vec<Value> {
    let list = value.as_array().unwrap_or_else(|| panic!("no list: {value}"));
    assert!(!list.is_empty(), "an empty list");
    list
}

fn only_keys(value: &Value, keys: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
    for key in object.keys() {
        assert!(keys.contains(&&**key), "{key} is not known here: {value}");
    }
}
