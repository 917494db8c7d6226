//! One request: its line taken apart, its parameters asked for by name and kind.

use std::borrow::Cow;

use ramal_session::json::{self, Members, members::as_str};

use super::answer::Refusal;

/// A request. Values are kept as JSON text, so that numbers and order reach the log as they came.
#[derive(Debug)]
pub(super) struct Request<'a> {
    text: Cow<'a, str>,
    /// The `id`, as JSON text: whatever it is, it is echoed.
    pub(super) id: Option<String>,
    pub(super) command: String,
}

/// What a line turned out to be.
#[derive(Debug)]
pub(super) enum Parsed<'a> {
    /// Nothing but white space: nobody asked anything.
    Blank,
    /// No request.
    Bad {
        id: Option<String>,
        why: &'static str,
    },
    Request(Request<'a>),
}

impl<'a> Request<'a> {
    /// Takes a line apart. Half surrogates and bytes that are no UTF-8 read as U+FFFD.
    pub(super) fn parse(line: &'a [u8]) -> Parsed<'a> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Parsed::Blank;
        }
        let text = json::clean(line);
        if !json::is_valid(&text) {
            return Parsed::Bad { id: None, why: "the line is no valid JSON" };
        }
        if !text.starts_with('{') {
            return Parsed::Bad { id: None, why: "a request is a JSON object" };
        }
        let id = json::get(text.as_bytes(), "id").map(|id| String::from_utf8_lossy(id).into_owned());
        match json::get_str(text.as_bytes(), "type").map(Cow::into_owned) {
            Some(command) => Parsed::Request(Request { text, id, command }),
            None => Parsed::Bad { id, why: "a request needs a string `type`: the name of its command" },
        }
    }

    /// The JSON text of a parameter; the last of its name, as every reader of JSON takes it.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let text = &*self.text;
        let of_key = |member: &json::Member| json::members::is_key(&text.as_bytes()[member.key.clone()], key);
        let last = Members::new(text.as_bytes()).filter(of_key).last();
        last.and_then(|member| text.get(member.value))
    }

    fn required(&self, key: &str) -> Result<&str, Refusal> {
        self.get(key).ok_or_else(|| Refusal::new(format!("`{key}` is missing")))
    }

    /// A parameter that has to be a string.
    pub(super) fn text(&self, key: &str) -> Result<String, Refusal> {
        string(key, self.required(key)?)
    }

    /// A parameter that has to be there, as a string or as null.
    pub(super) fn text_or_null(&self, key: &str) -> Result<Option<String>, Refusal> {
        match self.required(key)? {
            "null" => Ok(None),
            value => string(key, value).map(Some),
        }
    }

    /// A parameter that may be left out or null, and is a string otherwise.
    pub(super) fn text_if(&self, key: &str) -> Result<Option<String>, Refusal> {
        self.given(key).map(|value| string(key, value)).transpose()
    }

    /// A parameter that may be left out or null, and is a boolean otherwise.
    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, Refusal> {
        match self.given(key) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(Refusal::new(format!("`{key}` must be true or false"))),
        }
    }

    /// A parameter that may be left out or null, and is a whole number from 0 otherwise.
    pub(super) fn count(&self, key: &str) -> Result<Option<usize>, Refusal> {
        let Some(value) = self.given(key) else { return Ok(None) };
        let whole = value.parse::<usize>().ok().or_else(|| {
            // `10.0` and `1e3` are whole numbers, too.
            let number = value.parse::<f64>().ok()?;
            (number >= 0.0 && number.fract() == 0.0).then_some(number as usize)
        });
        whole.map(Some).ok_or_else(|| Refusal::new(format!("`{key}` must be a whole number from 0")))
    }

    /// A parameter that has to be an object; its JSON text.
    pub(super) fn object(&self, key: &str) -> Result<&str, Refusal> {
        let value = self.required(key)?;
        let is_object = value.starts_with('{');
        is_object.then_some(value).ok_or_else(|| Refusal::new(format!("`{key}` must be an object")))
    }

    /// A parameter that has to be an array; its JSON text.
    pub(super) fn array(&self, key: &str) -> Result<&str, Refusal> {
        let value = self.required(key)?;
        let is_array = value.starts_with('[');
        is_array.then_some(value).ok_or_else(|| Refusal::new(format!("`{key}` must be an array")))
    }

    /// What the `id` says, if it is a string.
    pub(super) fn id_text(&self) -> Option<String> {
        Some(as_str(self.id.as_deref()?.as_bytes())?.into_owned())
    }

    fn given(&self, key: &str) -> Option<&str> {
        self.get(key).filter(|&value| value != "null")
    }
}

fn string(key: &str, value: &str) -> Result<String, Refusal> {
    let text = as_str(value.as_bytes()).map(Cow::into_owned);
    text.ok_or_else(|| Refusal::new(format!("`{key}` must be a string")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> Request<'_> {
        match Request::parse(line.as_bytes()) {
            Parsed::Request(request) => request,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn what_is_no_request_says_why() {
        for (line, id) in [
            ("{", None),
            ("[]", None),
            ("7", None),
            (r#"{"id":[1, 2]}"#, Some("[1, 2]")),
            (r#"{"id":1e999,"type":null}"#, Some("1e999")),
        ] {
            match Request::parse(line.as_bytes()) {
                Parsed::Bad { id: found, .. } => assert_eq!(found.as_deref(), id, "{line}"),
                other => panic!("{line}: {other:?}"),
            }
        }
        assert!(matches!(Request::parse(b" \r\n"), Parsed::Blank));
    }

    #[test]
    fn parameters_by_name_and_kind() {
        let asked = request(
            "{\"type\":\"x\",\"t\":\"a\\ud83d\",\"n\":null,\"b\":true,\"c\":1e3,\"o\":{\"big\":12345678901234567890},\"t\\u0079\":\"k\"}\r\n",
        );
        assert_eq!(asked.text("t").unwrap(), "a\u{fffd}");
        assert_eq!(asked.text("ty").unwrap(), "k");
        assert_eq!(asked.text_or_null("n").unwrap(), None);
        assert_eq!(asked.text_if("absent").unwrap(), None);
        assert_eq!((asked.flag("b").unwrap(), asked.flag("n").unwrap()), (Some(true), None));
        assert_eq!(asked.count("c").unwrap(), Some(1000));
        assert_eq!(asked.object("o").unwrap(), r#"{"big":12345678901234567890}"#);
        for error in [
            asked.text("n").map(drop),
            asked.text("absent").map(drop),
            asked.text_or_null("absent").map(drop),
            asked.flag("t").map(drop),
            asked.count("b").map(drop),
            asked.object("t").map(drop),
        ] {
            assert!(error.unwrap_err().to_string().contains('`'));
        }
        assert!(request(r#"{"type":"x","c":-1}"#).count("c").is_err());
        assert!(request(r#"{"type":"x","c":1.5}"#).count("c").is_err());
    }
}
