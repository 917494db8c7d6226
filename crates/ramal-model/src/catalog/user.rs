//! Reads `models.toml`. Where something in it is wrong, the rest is in force.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Problem, Told, ToldModel, keys, line_of};
use crate::request::{Api, Cost, Secret};

/// What a `models.toml` says, and what in it could not be used.
pub(super) fn read(text: &str, path: &Path) -> (Vec<Told>, Vec<Problem>) {
    let mut reader = Reader { text, path, problems: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let line = error.span().map(|span| line_of(text, span.start));
        let message = error.message().trim().to_owned();
        reader.problems.push(Problem { path: path.into(), line, message });
    }
    let mut told = Vec::new();
    for (key, value) in in_order(table.get_ref()) {
        match (&**key.get_ref(), value.get_ref()) {
            ("providers", DeValue::Table(providers)) => {
                told.extend(in_order(providers).into_iter().filter_map(|(name, value)| {
                    let table = reader.table(&format!("the provider {:?}", name.get_ref()), value)?;
                    Some(reader.provider(name, table))
                }));
            }
            ("providers", _) => reader.problem(value.span().start, "`providers` is no table"),
            _ => reader.unknown(key, "in models.toml"),
        }
    }
    (told, reader.problems)
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;
type Value<'a> = Spanned<DeValue<'a>>;

/// The members as they stand in the file.
fn in_order<'t, 'a>(table: &'t DeTable<'a>) -> Vec<(&'t Key<'a>, &'t Value<'a>)> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    members
}

struct Reader<'p> {
    text: &'p str,
    path: &'p Path,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn problem(&mut self, offset: usize, message: &str) {
        let line = Some(line_of(self.text, offset));
        self.problems.push(Problem { path: self.path.into(), line, message: message.into() });
    }

    fn unknown(&mut self, key: &Key<'_>, place: &str) {
        self.problem(key.span().start, &format!("`{}` means nothing {place}", key.get_ref()));
    }

    fn table<'t, 'a>(&mut self, what: &str, value: &'t Value<'a>) -> Option<&'t DeTable<'a>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.problem(value.span().start, &format!("{what} is no table"));
        }
        table
    }

    fn string(&mut self, key: &Key<'_>, value: &Value<'_>) -> Option<String> {
        let text = value.get_ref().as_str().filter(|text| !text.trim().is_empty());
        if text.is_none() {
            self.problem(
                value.span().start,
                &format!("`{}` must be a text that is not empty", key.get_ref()),
            );
        }
        text.map(str::to_owned)
    }

    fn provider(&mut self, name: &Key<'_>, table: &DeTable<'_>) -> Told {
        let line = Some(line_of(self.text, name.span().start));
        let mut told = Told { name: name.get_ref().to_string(), line, ..Told::default() };
        for (key, value) in in_order(table) {
            match &**key.get_ref() {
                "api" => {
                    told.api = self.string(key, value).and_then(|text| text.parse().ok());
                    if told.api.is_none() && value.get_ref().as_str().is_some() {
                        self.problem(value.span().start, &format!("`api` must be {}", Api::spoken()));
                    }
                }
                "base_url" => told.base_url = self.string(key, value),
                "api_key" | "api_key_env" | "api_key_command" => {
                    if told.key.is_some() {
                        let text = "a provider has one of `api_key`, `api_key_env` and `api_key_command`; the first counts";
                        self.problem(key.span().start, text);
                        continue;
                    }
                    told.key = self.key(key, value);
                }
                "headers" => told.headers = self.headers(value),
                "models" => match value.get_ref() {
                    DeValue::Array(models) => {
                        told.models = models.iter().filter_map(|value| self.model(value)).collect();
                    }
                    _ => self.problem(value.span().start, "`models` is written [[providers.NAME.models]]"),
                },
                _ => self.unknown(key, "for a provider"),
            }
        }
        told
    }

    fn key(&mut self, key: &Key<'_>, value: &Value<'_>) -> Option<keys::Told> {
        if let ("api_key_env", DeValue::Array(names)) = (&**key.get_ref(), value.get_ref()) {
            return Some(keys::Told::Variables(
                names.iter().filter_map(|name| self.string(key, name)).collect(),
            ));
        }
        let text = self.string(key, value)?;
        Some(match &**key.get_ref() {
            "api_key" => keys::Told::Literal(Secret::new(text)),
            "api_key_env" => keys::Told::Variables(vec![text]),
            _ => keys::Told::Command(Secret::new(text)),
        })
    }

    fn headers(&mut self, value: &Value<'_>) -> Vec<(String, keys::Told)> {
        let Some(table) = self.table("`headers`", value) else { return Vec::new() };
        let header = |(key, value): (&Key<'_>, &Value<'_>)| {
            let text = self.string(key, value)?;
            Some((key.get_ref().to_string(), keys::Told::Literal(Secret::new(text))))
        };
        in_order(table).into_iter().filter_map(header).collect()
    }

    fn model(&mut self, value: &Value<'_>) -> Option<ToldModel> {
        let table = self.table("a model", value)?;
        // The place of a table of its own is that of its first member.
        let start = in_order(table).first().map_or(value.span().start, |(key, _)| key.span().start);
        let mut told = ToldModel { line: Some(line_of(self.text, start)), ..ToldModel::default() };
        for (key, value) in in_order(table) {
            match &**key.get_ref() {
                "id" => told.id = self.string(key, value).unwrap_or_default(),
                "context_window" => told.context_window = self.tokens(key, value),
                "max_output" => told.max_output = self.tokens(key, value),
                "thinks" => told.thinks = self.flag(key, value),
                "sees" => told.sees = self.flag(key, value),
                "cost" => told.cost = self.cost(value),
                _ => self.unknown(key, "for a model"),
            }
        }
        if told.id.is_empty() {
            self.problem(start, "a model has no id; it is left out");
            return None;
        }
        Some(told)
    }

    fn tokens(&mut self, key: &Key<'_>, value: &Value<'_>) -> Option<u64> {
        let number = value.get_ref().as_integer().and_then(|number| {
            u64::from_str_radix(number.as_str(), number.radix()).ok().filter(|number| *number > 0)
        });
        if number.is_none() {
            self.problem(value.span().start, &format!("`{}` must be a number of tokens", key.get_ref()));
        }
        number
    }

    fn flag(&mut self, key: &Key<'_>, value: &Value<'_>) -> Option<bool> {
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.problem(value.span().start, &format!("`{}` must be true or false", key.get_ref()));
        }
        flag
    }

    fn cost(&mut self, value: &Value<'_>) -> Option<Cost> {
        let mut cost = Cost::default();
        for (key, value) in in_order(self.table("`cost`", value)?) {
            let price = match value.get_ref() {
                DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
                DeValue::Integer(number) => number.as_str().parse::<f64>().ok(),
                _ => None,
            };
            let Some(price) = price.filter(|price| price.is_finite() && *price >= 0.0) else {
                let text = format!("`{}` must be a price in dollars for a million tokens", key.get_ref());
                self.problem(value.span().start, &text);
                continue;
            };
            match &**key.get_ref() {
                "input" => cost.input = price,
                "output" => cost.output = price,
                "cache_read" => cost.cache_read = price,
                "cache_write" => cost.cache_write = price,
                _ => self.unknown(key, "for a cost"),
            }
        }
        Some(cost)
    }
}
