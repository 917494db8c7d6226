//! JSON objects that are written member by member.

use ramal_session::json::quote;

/// A JSON object that grows.
#[derive(Debug, Default)]
pub(crate) struct Object(String);

impl Object {
    /// One whose first member is its type.
    pub(crate) fn of_type(name: &str) -> Object {
        let mut object = Object::default();
        object.text("type", name);
        object
    }

    pub(crate) fn json(&mut self, key: &str, value: &str) {
        let lead = if self.0.is_empty() { "{" } else { "," };
        for part in [lead, "\"", key, "\":", value] {
            self.0.push_str(part);
        }
    }

    pub(crate) fn json_if(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.json(key, value);
        }
    }

    pub(crate) fn flag(&mut self, key: &str, value: bool) {
        self.json(key, if value { "true" } else { "false" });
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.json(key, &quote(value));
    }

    pub(crate) fn text_if(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    pub(crate) fn text_or_null(&mut self, key: &str, value: Option<&str>) {
        self.json(key, &value.map_or_else(|| "null".into(), quote));
    }

    pub(crate) fn call(&mut self, id: &str, name: &str) {
        self.text("toolCallId", id);
        self.text("toolName", name);
    }

    pub(crate) fn end(self) -> String {
        if self.0.is_empty() { "{}".into() } else { self.0 + "}" }
    }
}

/// JSON texts as an array.
pub(crate) fn array(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

/// Texts as an array.
pub(crate) fn texts(items: &[String]) -> String {
    array(&items.iter().map(|item| quote(item)).collect::<Vec<_>>())
}
