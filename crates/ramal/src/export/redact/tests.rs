//! Secrets of every shape, in every place.

use super::*;

fn found(text: &str) -> Vec<&str> {
    shapes::find(text).into_iter().map(|place| text.get(place).unwrap()).collect()
}

#[test]
fn secrets_show_by_their_shape() {
    for secret in [
        "sk-abcdefgh0123456789",
        "sk-ant-api03-abcDEF_123-xyz0",
        "ghp_abcdefghij0123456789",
        "github_pat_11ABCDEFG0_abcdefghijklmno",
        "AKIAABCDEFGHIJKLMNO1",
        "xoxb-1234567890-abc",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_1",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIabc+/=\nxyz\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\\nMIIabc\\n-----END PRIVATE KEY-----",
    ] {
        for text in
            [secret.to_owned(), format!("a {secret} b"), format!("\"{secret}\""), format!("x=\\n{secret}")]
        {
            assert_eq!(found(&text), [secret], "{text}");
        }
    }
    let cut = "-----BEGIN PRIVATE KEY-----\nMIIabc\nxyz";
    assert_eq!(found(&format!("{cut} and so on")), [cut]);
}

#[test]
fn secrets_show_by_what_stands_before_them() {
    for (text, secret) in [
        ("Authorization: Bearer abc.def-123", "abc.def-123"),
        ("authorization: basic dXNlcjpwYXNz1", "dXNlcjpwYXNz1"),
        ("X-Key: Zebra-crossing-4711", "Zebra-crossing-4711"),
        ("API_KEY=zebra4711zebra", "zebra4711zebra"),
        (r#"{"password": "zebra4711!x"}"#, "zebra4711!x"),
        (r#"{\"apiKey\": \"zebra4711zebra\"}"#, "zebra4711zebra"),
        ("my_token = 'zebra-4711'", "zebra-4711"),
        ("postgres://me:hunter2@db/x", "hunter2"),
    ] {
        assert_eq!(found(text), [secret], "{text}");
    }
}

#[test]
fn ordinary_text_is_no_secret() {
    for text in [
        "a risk-assessment-of-the-whole-2026-thing",
        "sk-learn-something-without-any-number",
        "the bearer of this letter",
        "token = tokenizer2(text)",
        "let key: usize = 12345678901;",
        "sort_key: name",
        "https://example.com:8080/path@x",
        "-----BEGIN CERTIFICATE-----\nMIIabc\n-----END CERTIFICATE-----",
        "AKIA is how they begin",
        "é:=é:@",
        "",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn what_was_found_once_is_blanked_everywhere() {
    let mut texts = BTreeSet::new();
    gather(r#"{"a":"X-Key: Zebra-crossing-4711","b":["postgres://me:hunter2@db"]}"#, &mut texts);
    assert_eq!(texts.iter().collect::<Vec<_>>(), ["Zebra-crossing-4711"]);
    let secrets = Secrets::from_texts(texts);
    assert_eq!(secrets.blank("Zebra-crossing-4711, é Zebra-crossing-4711"), "[redacted], é [redacted]");
    assert!(matches!(secrets.blank("no secret"), Cow::Borrowed(_)));
    let json = r#"{"Zebra-crossing-4711":["\u005aebra-crossing-4711",1.50,"a\"b"],"k":"\\"}"#;
    assert_eq!(secrets.blank_json(json), r#"{"[redacted]":["[redacted]",1.50,"a\"b"],"k":"\\"}"#);
    assert!(matches!(secrets.blank_json(r#"{"a":"\\\"","b":"x"}"#), Cow::Borrowed(_)));
}

#[test]
fn a_secret_within_another_leaves_nothing_of_it() {
    let secrets =
        Secrets::from_texts(["abcdefgh".to_owned(), "defghijkl".to_owned(), "fgh".to_owned()].into());
    assert_eq!(secrets.blank("xx abcdefghijkl yy fgh"), "xx [redacted] yy [redacted]");
}

#[test]
fn variables_named_like_secrets() {
    let variables = [
        ("MY_API_KEY", "zebra4711"),
        ("PATH", "/usr/bin:/bin"),
        ("SSH_AUTH_TOKEN", "short"),
        ("X_TOKEN", "/run/x/token"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(of_environment(variables.into_iter()).collect::<Vec<_>>(), ["zebra4711"]);
}

#[test]
fn pictures_are_left_out() {
    let secrets = Secrets::default();
    let picture = r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#;
    for (text, want) in [
        (
            format!(r#"{{"message":{{"content":[{{"type":"text","text":"a"}},{picture}]}},"x":1.0}}"#),
            format!(r#"{{"message":{{"content":[{{"type":"text","text":"a"}},{NO_PICTURE}]}},"x":1.0}}"#),
        ),
        (format!(r#"{{"content":[{picture}]}}"#), format!(r#"{{"content":[{NO_PICTURE}]}}"#)),
        (r#"{"content":"x"}"#.to_owned(), r#"{"content":"x"}"#.to_owned()),
    ] {
        assert_eq!(secrets.blank_entry(&text), want);
    }
}
