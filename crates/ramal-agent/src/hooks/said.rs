//! What an answer in JSON says, member by member. A member of the wrong kind is an error that names it.

use ramal_session::json::{self, members};

/// An object that is known to be valid JSON.
#[derive(Debug)]
pub(super) struct Said<'a> {
    object: &'a str,
    /// Where it stands in the answer.
    place: &'static str,
}

impl<'a> Said<'a> {
    pub(super) fn new(object: &'a str) -> Said<'a> {
        Said { object, place: "" }
    }

    /// A member; one that is null is not there.
    fn get(&self, key: &str) -> Option<&'a str> {
        let value = json::get(self.object.as_bytes(), key)?;
        std::str::from_utf8(value).ok().filter(|value| *value != "null")
    }

    fn must_be(&self, key: &str, what: &str) -> String {
        let dot = if self.place.is_empty() { "" } else { "." };
        format!("`{}{dot}{key}` must be {what}", self.place)
    }

    /// Whatever it is.
    pub(super) fn json(&self, key: &str) -> Option<String> {
        self.get(key).map(str::to_owned)
    }

    pub(super) fn flag_if(&self, key: &str) -> Result<Option<bool>, String> {
        match self.get(key) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(self.must_be(key, "true or false")),
        }
    }

    pub(super) fn text_if(&self, key: &str) -> Result<Option<String>, String> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let text = members::as_str(value.as_bytes()).map(|text| text.into_owned());
        text.map(Some).ok_or_else(|| self.must_be(key, "a string"))
    }

    pub(super) fn text(&self, key: &str) -> Result<String, String> {
        self.text_if(key)?.ok_or_else(|| self.must_be(key, "a string"))
    }

    pub(super) fn count(&self, key: &str) -> Result<u64, String> {
        let value = self.get(key).unwrap_or_default();
        let whole = value.parse::<u64>().ok().or_else(|| {
            // `10.0` and `1e3` are whole numbers, too.
            let number = value.parse::<f64>().ok()?;
            (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
        });
        whole.ok_or_else(|| self.must_be(key, "a whole number from 0"))
    }

    pub(super) fn object(&self, key: &'static str) -> Result<Option<Said<'a>>, String> {
        match self.get(key) {
            Some(object) if !object.starts_with('{') => Err(self.must_be(key, "an object")),
            object => Ok(object.map(|object| Said { object, place: key })),
        }
    }

    /// The items of an array, if there is one, all of which are `what`.
    fn items<T>(
        &self,
        key: &str,
        what: &str,
        item: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<Vec<T>>, String> {
        let Some(array) = self.get(key) else { return Ok(None) };
        let items = members::items(array.as_bytes()).map(|bytes| item(std::str::from_utf8(bytes).ok()?));
        let items = if array.starts_with('[') { items.collect() } else { None };
        items.map(Some).ok_or_else(|| self.must_be(key, what))
    }

    pub(super) fn texts(&self, key: &str) -> Result<Option<Vec<String>>, String> {
        let text = |item: &str| Some(members::as_str(item.as_bytes())?.into_owned());
        self.items(key, "an array of strings", text)
    }

    /// Their JSON texts.
    pub(super) fn objects(&self, key: &str) -> Result<Option<Vec<String>>, String> {
        let object = |item: &str| item.starts_with('{').then(|| item.to_owned());
        self.items(key, "an array of objects", object)
    }

    /// The objects of an array, if there is one.
    pub(super) fn each(&self, key: &'static str) -> Result<Vec<Said<'a>>, String> {
        self.objects(key)?;
        let array = self.get(key).unwrap_or_default();
        let objects = members::items(array.as_bytes()).filter_map(|object| std::str::from_utf8(object).ok());
        Ok(objects.map(|object| Said { object, place: key }).collect())
    }

    /// What a message holds: a string, or an array of objects.
    pub(super) fn content(&self, key: &'static str) -> Result<String, String> {
        match self.get(key) {
            Some(text) if text.starts_with('"') => Ok(text.to_owned()),
            Some(_) if self.objects(key).is_ok() => Ok(self.json(key).unwrap_or_default()),
            _ => Err(self.must_be(key, "a string or an array of blocks")),
        }
    }
}
