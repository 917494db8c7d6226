//! The arguments of a call, as models write them: numbers may come as text, a missing one as null.

use serde_json::{Map, Value};

/// The arguments of a call.
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Reads them from JSON text. No text at all means no arguments.
    pub(super) fn parse(text: &str) -> Result<Arguments, String> {
        if text.trim().is_empty() {
            return Ok(Arguments(Map::new()));
        }
        match serde_json::from_str(&ramal_session::json::clean(text.as_bytes())) {
            Ok(Value::Object(members)) => Ok(Arguments(members)),
            // The log keeps in a string what was no object.
            Ok(Value::String(raw)) => Err(no_object(&raw)),
            _ => Err(no_object(text)),
        }
    }

    /// A member that is there and not null.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// A text, if it is there.
    pub(super) fn text(&self, key: &str) -> Result<Option<&str>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(key, "text", other)),
        }
    }

    /// A text that must be there.
    pub(super) fn required(&self, key: &str) -> Result<&str, String> {
        self.text(key)?.ok_or_else(|| missing(key))
    }

    /// The path. Some models were taught another name for it.
    pub(super) fn path(&self) -> Result<Option<&str>, String> {
        match self.text("path")? {
            Some(path) => Ok(Some(path)),
            None => self.text("file_path"),
        }
    }

    /// The path, which must be there.
    pub(super) fn required_path(&self) -> Result<&str, String> {
        self.path()?.ok_or_else(|| missing("path"))
    }

    /// A count, if it is there.
    pub(super) fn count(&self, key: &str) -> Result<Option<usize>, String> {
        let Some(number) = self.number(key)? else { return Ok(None) };
        // A cast from floating point stays within the bounds of the target.
        if number < 0.0 { Err(format!("`{key}` is below zero.")) } else { Ok(Some(number as usize)) }
    }

    /// A number, if it is there.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, String> {
        let number = match self.get(key) {
            None => return Ok(None),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(value) => value.as_f64(),
        };
        match number.filter(|number: &f64| number.is_finite()) {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(key, "a number", self.get(key).unwrap_or(&Value::Null))),
        }
    }

    /// Whether something is wanted.
    pub(super) fn flag(&self, key: &str) -> Result<bool, String> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text == "true" => Ok(true),
            Some(Value::String(text)) if text == "false" => Ok(false),
            Some(other) => Err(wrong(key, "true or false", other)),
        }
    }
}

/// What is wrong with the arguments of a call as a whole, for the model; none if they are an object.
pub(crate) fn wrong_as_a_whole(text: &str) -> Option<String> {
    if text.starts_with('{') && ramal_session::json::is_valid(text) {
        return None;
    }
    Arguments::parse(text).err()
}

/// Characters of arguments that are repeated to the model: it sees its call with none at all.
const REPEATED: usize = 200;

fn no_object(text: &str) -> String {
    let why = match serde_json::from_str::<Value>(text) {
        Ok(value) => format!("they are {}", kind(&value)),
        Err(error) => error.to_string(),
    };
    let mut came: String = text.chars().take(REPEATED).collect();
    if came.len() < text.len() {
        came.push('…');
    }
    format!("The arguments were no JSON object: {why}. What came is: {came}")
}

fn missing(key: &str) -> String {
    format!("The argument `{key}` is missing.")
}

fn wrong(key: &str, wanted: &str, value: &Value) -> String {
    format!("The argument `{key}` should be {wanted}, and is {}.", kind(value))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_as_models_write_them() {
        let arguments =
            Arguments::parse(r#"{"a":"12","b":3.0,"c":null,"d":"x\ud83d","e":[1],"f":"true"}"#).unwrap();
        assert_eq!(arguments.count("a"), Ok(Some(12)));
        assert_eq!(arguments.count("b"), Ok(Some(3)));
        assert_eq!(arguments.count("c"), Ok(None));
        assert_eq!(arguments.required("d"), Ok("x\u{fffd}"));
        assert!(arguments.required("e").unwrap_err().contains("a list"));
        assert_eq!(arguments.flag("f"), Ok(true));
        assert!(arguments.required("g").unwrap_err().contains("`g` is missing"));
        assert!(arguments.number("d").is_err() && Arguments::parse("[]").is_err());
        assert!(Arguments::parse(&"[".repeat(100_000)).is_err());
        assert!(Arguments::parse(" ").unwrap().path().unwrap().is_none());
    }

    #[test]
    fn what_is_no_object_is_said_with_what_came() {
        let wrong = |text: &str| wrong_as_a_whole(text).unwrap();
        let cut = wrong(r#""{\"path\": \"f\"""#);
        assert!(cut.starts_with("The arguments were no JSON object: EOF while parsing an object"), "{cut}");
        assert!(cut.ends_with(r#"What came is: {"path": "f""#), "{cut}");
        assert!(wrong(r#""[1]""#).contains("no JSON object: they are a list."));
        assert!(wrong("[1]").contains("they are a list."));
        let long = wrong(&format!("\"{}\"", "x".repeat(100_000)));
        assert!(long.len() < 500 && long.ends_with("x…"), "{long}");
        for fine in ["", "{}", " {}", r#"{"a":1}"#] {
            assert_eq!(wrong_as_a_whole(fine), None, "{fine}");
        }
    }
}
