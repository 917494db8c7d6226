//! Reads pi's `models.json`, which many have already. What is wrong in it is told by its place and by
//! what belongs there, never by what stands there: that may be a key.

use std::collections::HashSet;
use std::path::Path;

use ramal_session::json::members::{Members, as_str, items};

use super::{Problem, Told, ToldModel, jsonc, keys, line_of};
use crate::request::{Api, Cost, Secret};

/// What pi takes where a model does not say.
const CONTEXT_WINDOW: u64 = 128_000;
const MAX_OUTPUT: u64 = 16_384;

/// What a `models.json` says, and what in it could not be used.
pub(super) fn read(
    text: &str,
    path: &Path,
    variables: &dyn Fn(&str) -> Option<String>,
) -> (Vec<Told>, Vec<Problem>) {
    let text = jsonc::plain(text);
    let mut reader =
        Reader { text: &text, path, problems: Vec::new(), passed_over: HashSet::new(), variables };
    if let Err(error) = serde_json::from_str::<&serde_json::value::RawValue>(&text) {
        reader.problems.push(Problem { path: path.into(), line: Some(error.line()), message: said(&error) });
        return (Vec::new(), reader.problems);
    }
    let mut told = Vec::new();
    for (key, value) in reader.members("the file", text.trim_start().as_bytes()) {
        match &*key {
            "providers" => {
                for (name, value) in reader.members("`providers`", value) {
                    told.extend(reader.provider(name, value));
                }
            }
            "$schema" => {}
            _ => reader.pass_over(&key, value),
        }
    }
    (told, reader.problems)
}

struct Reader<'a> {
    text: &'a str,
    path: &'a Path,
    problems: Vec<Problem>,
    /// Members that were named as not understood: once for the file is enough.
    passed_over: HashSet<String>,
    variables: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Reader<'a> {
    /// The line on which a piece of the text begins.
    fn line(&self, piece: &[u8]) -> usize {
        let offset = (piece.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        line_of(self.text, offset)
    }

    fn problem(&mut self, place: &[u8], message: String) {
        let line = Some(self.line(place));
        self.problems.push(Problem { path: self.path.into(), line, message });
    }

    /// What stands at `place` is not what belongs there.
    fn wanted(&mut self, what: &str, wanted: &str, place: &[u8]) {
        self.problem(place, format!("{what} must be {wanted}"));
    }

    fn pass_over(&mut self, key: &str, place: &[u8]) {
        if self.passed_over.insert(key.to_owned()) {
            let message = format!("`{key}` is not supported; it is passed over, wherever else it stands too");
            self.problem(place, message);
        }
    }

    /// The members of an object that are not null.
    fn members(&mut self, what: &str, object: &'a [u8]) -> Vec<(String, &'a [u8])> {
        if object.first() != Some(&b'{') {
            self.wanted(what, "an object", object);
        }
        let member = |member: ramal_session::json::members::Member| {
            let (key, value) = (object.get(member.key)?, object.get(member.value)?);
            (value != b"null").then(|| (ramal_session::json::decode(key).into_owned(), value))
        };
        Members::new(object).filter_map(member).collect()
    }

    /// The items of a list.
    fn items(&mut self, key: &str, list: &'a [u8]) -> Vec<&'a [u8]> {
        if list.first() != Some(&b'[') {
            self.wanted(&format!("`{key}`"), "a list", list);
        }
        items(list).collect()
    }

    fn text(&mut self, key: &str, value: &[u8]) -> Option<String> {
        let text = as_str(value).filter(|text| !text.trim().is_empty());
        if text.is_none() {
            self.wanted(&format!("`{key}`"), "a text that is not empty", value);
        }
        text.map(|text| text.into_owned())
    }

    fn flag(&mut self, key: &str, value: &[u8]) -> Option<bool> {
        match value {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => {
                self.wanted(&format!("`{key}`"), "true or false", value);
                None
            }
        }
    }

    fn number(&mut self, key: &str, value: &[u8]) -> Option<f64> {
        let number = std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
        let number = number.filter(|number| number.is_finite() && *number >= 0.0);
        if number.is_none() {
            self.wanted(&format!("`{key}`"), "a number that is not below zero", value);
        }
        number
    }

    /// A number of tokens; none also where it is nought, as pi has it.
    fn tokens(&mut self, key: &str, value: &[u8]) -> Option<u64> {
        // A cast from floating point stays within the bounds of the target.
        self.number(key, value).map(|number| number as u64).filter(|tokens| *tokens > 0)
    }

    fn api(&mut self, value: &[u8]) -> Option<Api> {
        let api = self.text("api", value)?.parse().ok();
        if api.is_none() {
            self.wanted("`api`", &format!("{}; what needs it is left out", Api::spoken()), value);
        }
        api
    }

    fn provider(&mut self, name: String, value: &'a [u8]) -> Option<Told> {
        let what = format!("the provider {name:?}");
        let mut told = Told { line: Some(self.line(value)), ..Told::default() };
        let (mut says_api, mut models) = (false, Vec::new());
        for (key, value) in self.members(&what, value) {
            match &*key {
                "baseUrl" => told.base_url = self.text(&key, value),
                "apiKey" => told.key = self.text(&key, value).map(|text| self.secret(&text)),
                "api" => (says_api, told.api) = (true, self.api(value)),
                "headers" => told.headers = self.headers(value),
                "authHeader" => told.sends_bearer = self.flag(&key, value).unwrap_or_default(),
                "models" => models = self.items(&key, value),
                "name" => {}
                _ => self.pass_over(&key, value),
            }
        }
        let mut from_models = None;
        for piece in models {
            let Some((model, says_own)) = self.model(piece) else { continue };
            let lacks_own = says_own && model.api.is_none();
            let lacks_any = says_api && told.api.is_none() && model.api.is_none();
            if !lacks_own && !lacks_any {
                from_models = from_models.or(model.api);
                told.models.push(model);
            }
        }
        // Some providers leave it to their models.
        told.api = told.api.or(from_models);
        value.starts_with(b"{").then_some(Told { name, ..told })
    }

    /// A model, and whether it says what interface it speaks.
    fn model(&mut self, piece: &'a [u8]) -> Option<(ToldModel, bool)> {
        let mut told = ToldModel { line: Some(self.line(piece)), ..ToldModel::default() };
        let mut says_api = false;
        for (key, value) in self.members("a model", piece) {
            match &*key {
                "id" => told.id = self.text(&key, value).unwrap_or_default(),
                "api" => (says_api, told.api) = (true, self.api(value)),
                "baseUrl" => told.base_url = self.text(&key, value),
                "reasoning" => told.thinks = self.flag(&key, value),
                "input" => {
                    let kinds = self.items(&key, value);
                    told.sees = Some(kinds.iter().any(|kind| as_str(kind).as_deref() == Some("image")));
                }
                "contextWindow" => told.context_window = self.tokens(&key, value),
                "maxTokens" => told.max_output = self.tokens(&key, value),
                "cost" => told.cost = Some(self.cost(value)),
                "headers" => told.headers = self.headers(value),
                "name" => {}
                _ => self.pass_over(&key, value),
            }
        }
        if told.id.is_empty() {
            self.problem(piece, "a model has no id; it is left out".to_owned());
            return None;
        }
        told.context_window.get_or_insert(CONTEXT_WINDOW);
        told.max_output.get_or_insert(MAX_OUTPUT);
        Some((told, says_api))
    }

    fn cost(&mut self, value: &'a [u8]) -> Cost {
        let mut cost = Cost::default();
        for (key, value) in self.members("`cost`", value) {
            let place = match &*key {
                "input" => &mut cost.input,
                "output" => &mut cost.output,
                "cacheRead" => &mut cost.cache_read,
                "cacheWrite" => &mut cost.cache_write,
                _ => {
                    self.pass_over(&key, value);
                    continue;
                }
            };
            *place = self.number(&key, value).unwrap_or_default();
        }
        cost
    }

    fn headers(&mut self, value: &'a [u8]) -> Vec<(String, keys::Told)> {
        let mut headers = Vec::new();
        for (name, value) in self.members("`headers`", value) {
            match as_str(value) {
                Some(text) => headers.push((name, self.secret(&text))),
                None => self.wanted(&format!("the header {name:?}"), "a text", value),
            }
        }
        headers
    }

    /// A key, or the value of a header: a command behind `!`, the name of a variable, or a text in which
    /// `$NAME` and `${NAME}` stand for variables and `$$` and `$!` for `$` and `!`. A name counts as one
    /// if it is set.
    fn secret(&self, text: &str) -> keys::Told {
        let text = text.trim();
        if let Some(command) = text.strip_prefix('!') {
            return keys::Told::Command(Secret::new(command));
        }
        let is_name =
            |text: &str| !text.is_empty() && !text.contains(['=', '\0']) && (self.variables)(text).is_some();
        if is_name(text) || looks_like_a_name(text) {
            return keys::Told::Variables(vec![text.to_owned()]);
        }
        match filled_in(text, self.variables) {
            Ok(text) => keys::Told::Literal(Secret::new(text)),
            Err(name) => keys::Told::Variables(vec![name]),
        }
    }
}

/// `SOMETHING_API_KEY`: no key looks like that.
fn looks_like_a_name(key: &str) -> bool {
    key.ends_with("_KEY")
        && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// A text with its variables filled in, or the first of them that is not set.
fn filled_in(text: &str, variables: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out += before;
        rest = behind;
        if let Some(escaped) = rest.strip_prefix(['$', '!']) {
            out += rest.get(..1).unwrap_or_default();
            rest = escaped;
            continue;
        }
        let in_braces = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, behind) =
            in_braces.unwrap_or_else(|| rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len())));
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(is_part) {
            out.push('$');
            continue;
        }
        let value = variables(name).filter(|value| !value.trim().is_empty());
        out += value.ok_or(name)?.trim();
        rest = behind;
    }
    Ok(out + rest)
}

/// What the parser says, without its own idea of the place. Of a text that is no JSON it repeats
/// nothing.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::filled_in;

    #[test]
    fn variables_are_filled_in_within_a_text() {
        let variables = |name: &str| match name {
            "A" => Some("x".to_owned()),
            "B_1" => Some(" y ".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        for (text, want) in [
            ("plain", Ok("plain")),
            ("$A", Ok("x")),
            ("Bearer ${A}_$B_1.", Ok("Bearer x_y.")),
            ("$$A$!b", Ok("$A!b")),
            ("costs $ 5 $5 ${a b} ${A", Ok("costs $ 5 $5 ${a b} ${A")),
            ("$", Ok("$")),
            ("$A$NONE$A", Err("NONE")),
            ("${EMPTY}", Err("EMPTY")),
        ] {
            let found = filled_in(text, &variables);
            assert_eq!(found.as_deref().map_err(String::as_str), want, "{text}");
        }
    }
}
