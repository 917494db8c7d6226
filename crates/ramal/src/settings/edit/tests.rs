//! What becomes of the text around a setting.

use super::*;

fn on() -> Value {
    Value::Bool(true)
}

fn set_on(text: &str, name: &str) -> String {
    set(text, &[name], Some(&on())).unwrap()
}

fn removed(text: &str, name: &str) -> String {
    set(text, &[name], None).unwrap()
}

#[test]
fn a_value_changes_where_it_stands() {
    for (before, after) in [
        ("# mine\na=false   # why\n\n# b\nb = 1\n", "# mine\na=true   # why\n\n# b\nb = 1\n"),
        ("x.a = false\n", "x.a = true\n"),
        ("\"x.a\" = false # dotted\n", "\"x.a\" = true # dotted\n"),
        ("[x] # x\nb = 1\n  a = 'q'\n# end\n", "[x] # x\nb = 1\n  a = true\n# end\n"),
        ("x = { b = 1, a = false } # in\n", "x = { b = 1, a = true } # in\n"),
        ("x = {b=[\n 1,\n], a=[\n 'x', # y\n]}\n", "x = {b=[\n 1,\n], a=true}\n"),
        // All of them, so that it does not matter which one counts.
        ("\"x.a\" = 1\n[x]\na = 2\n", "\"x.a\" = true\n[x]\na = true\n"),
    ] {
        let name = if before.contains('x') { "x.a" } else { "a" };
        assert_eq!(set_on(before, name), after);
        assert_eq!(set_on(after, name), after);
    }
    assert_eq!(set("b = 1\nc = 2\n", &["a", "c"], Some(&on())).unwrap(), "b = 1\nc = true\n");
}

#[test]
fn a_new_setting_gets_a_place() {
    for (name, before, after) in [
        ("a", "", "a = true\n"),
        ("a", "# only words\n", "# only words\na = true\n"),
        ("a", "b = 1\n# end\n", "b = 1\na = true\n# end\n"),
        ("a", "b = 1", "b = 1\na = true\n"),
        ("a", "b = 1\n\n# of x\n[x]\nc = 1\n", "b = 1\na = true\n\n# of x\n[x]\nc = 1\n"),
        ("a", "# of x\n[x]\nc = 1\n", "a = true\n\n# of x\n[x]\nc = 1\n"),
        ("a", "# mine\n\n# of x\n[x]\nc = 1\n", "# mine\n\na = true\n\n# of x\n[x]\nc = 1\n"),
        ("a", "[z.y]\nc = 1\n[x]\n", "a = true\n\n[z.y]\nc = 1\n[x]\n"),
        ("a", "x.c = 1\n[z]\n", "x.c = 1\na = true\n[z]\n"),
        ("a", "# mine\n[x.z]\n\n[x]\n", "a = true\n\n# mine\n[x.z]\n\n[x]\n"),
        ("x.a", "", "[x]\na = true\n"),
        ("x.a", "# only words\n", "# only words\n\n[x]\na = true\n"),
        ("x.a", "b = 1\n", "b = 1\n\n[x]\na = true\n"),
        ("x.a", "[z]\nb = 1\n# end\n", "[z]\nb = 1\n# end\n\n[x]\na = true\n"),
        ("x.a", "[x]\n# c = 1\n\n[z]\nb = 1\n", "[x]\na = true\n# c = 1\n\n[z]\nb = 1\n"),
        ("x.a", "x.c = 1\nb = 1\n", "x.c = 1\nx.a = true\nb = 1\n"),
        ("x.a", "x = { c = 1 }\n", "x = { c = 1, a = true }\n"),
        ("x.a", "x = {}\n", "x = { a = true }\n"),
        ("x.a", "x={c=1}\n", "x={c=1, a = true}\n"),
        ("x.a", "[x.z]\nc = 1\n", "[x.z]\nc = 1\n\n[x]\na = true\n"),
        ("x.a", "x.c = 1\nb = 1\nx.d = 1\n", "x.c = 1\nb = 1\nx.d = 1\nx.a = true\n"),
        ("a", "x.c = 1\nb = 1\nx.d = 1\n", "x.c = 1\nb = 1\nx.d = 1\na = true\n"),
    ] {
        assert_eq!(set_on(before, name), after, "{name} in {before:?}");
    }
}

#[test]
fn what_is_taken_out_leaves_the_comments_around_it() {
    for (name, before, after) in [
        ("a", "# mine\na = 1 # why\n# b\nb = 1\n", "# mine\n# b\nb = 1\n"),
        ("a", "b = 1\na = 1", "b = 1\n"),
        ("a", "a = [ # x\n 'b',\n]\nb = 1\n", "b = 1\n"),
        ("x.a", "# of x\n[x]\n# of a\na = 1\n", "# of x\n[x]\n# of a\n"),
        ("x.a", "x.a = 1\n\"x.a\" = 2\nb = 1\n", "b = 1\n"),
        ("x.a", "x = { a = 1, b = 2 }\n", "x = { b = 2 }\n"),
        ("x.a", "x = { b = 2, a = 1 }\n", "x = { b = 2 }\n"),
        ("x.a", "x = {a=1}\n", "x = {}\n"),
        ("x.a", "x = { b = 1, a = 1, c = 1 }\n", "x = { b = 1, c = 1 }\n"),
        ("x.a", "b = 1\n", "b = 1\n"),
    ] {
        assert_eq!(removed(before, name), after, "{name} in {before:?}");
    }
}

#[test]
fn ends_of_lines_stay() {
    assert_eq!(set_on("b = 1\r\n# end\r\n", "a"), "b = 1\r\na = true\r\n# end\r\n");
    assert_eq!(set_on("# x\r\nb = 1\r\n", "x.a"), "# x\r\nb = 1\r\n\r\n[x]\r\na = true\r\n");
    assert_eq!(removed("a = 1\r\nb = 1\r\n", "a"), "b = 1\r\n");
}

#[test]
fn what_cannot_be_changed_is_named_with_its_line() {
    let wrong = |text: &str, name: &str| set(text, &[name], Some(&on())).unwrap_err();
    assert_eq!(wrong("b = 1\nc = = 2\n", "a").line, Some(2));
    assert_eq!(wrong("b = 1\nb = 2\n", "a").line, Some(2));
    assert_eq!(wrong("b = 1\n[a]\nc = 2\n", "a").line, Some(2));
    assert_eq!(wrong("b = 1\na = { c = 1 }\n", "a").line, Some(2));
    assert!(wrong("x = 1\n", "x.a").message.contains("`x` is no table"));
    assert!(wrong("[[x]]\n", "x.a").message.contains("`x` is no table"));
    assert_eq!(set("[a]\n", &["a"], None).unwrap_err().line, Some(1));
    assert!(set("", &["a"], Some(&Value::Other)).is_err());
}

/// The settings that a text has besides one.
fn others(text: &str, name: &str) -> Vec<(String, Value)> {
    let mut problems = Vec::new();
    let settings = super::super::read::toml(text, std::path::Path::new(""), &mut problems);
    assert!(problems.is_empty(), "{problems:?} in {text}");
    let all = settings.into_iter().map(|setting| (setting.key, setting.value));
    let mut others: Vec<_> = all.filter(|(key, _)| key != name).collect();
    others.sort_by(|one, other| one.0.cmp(&other.0));
    others
}

#[test]
fn nothing_else_is_changed_whatever_stands_there() {
    let lines = [
        "# comment",
        "",
        "[x]",
        "[y]",
        "[x.z]",
        "a = 1",
        "b = 'q' # why",
        "x.a = 2",
        "x.b = 2",
        "y = { a = 1, b.c = 2 }",
        "\"x.a\" = 5",
        "[[w]]",
    ];
    let mut tried = 0;
    for number in 0..lines.len().pow(4) {
        let line = |place: u32| lines[number / lines.len().pow(place) % lines.len()];
        let text: String = (0..4).map(|place| format!("{}\n", line(place))).collect();
        // Each text with one name, each name with many texts.
        let name = ["a", "x.a", "y.a"][number % 3];
        let Ok(with) = set(&text, &[name], Some(&on())) else { continue };
        let without = removed(&with, name);
        // Every line that does not hold the setting is there, in its order.
        let mut rest = with.lines();
        for line in text.lines().filter(|line| !line.contains("a = ") && !line.contains("\"x.a\"")) {
            assert!(rest.any(|found| found == line), "{line:?} of {text} in {with}");
        }
        for after in [&with, &without] {
            assert_eq!(others(after, name), others(&text, name), "{name} in {text}, then {after}");
            let comments = |text: &str| text.matches("# comment").count();
            assert_eq!(comments(after), comments(&text), "{name} in {text}, then {after}");
        }
        assert!(find(&parse(&without).unwrap(), &[name]).unwrap().is_empty(), "{without}");
        tried += 1;
    }
    assert!(tried > 5000, "{tried}");
}
