//! Finds a model by what somebody typed.

use std::collections::BTreeSet;

use super::{Catalog, Listed, of_header};
use crate::request::{Api, Cost, Endpoint, Secret};

/// Names that are offered in place of one that is not there.
const NEAR: usize = 5;

/// Why no model goes by a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// There is none.
    #[error("there is no model {name:?}{}", or_list(near, "; did you mean "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// Names that are nearly that.
        near: Vec<String>,
    },
    /// There are several.
    #[error("{name:?} may be {}", or_list(among, ""))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// All of them, as `provider/id`.
        among: Vec<String>,
    },
    /// It cannot be used now.
    #[error("{name} cannot be used: {why}")]
    Unusable {
        /// The model, as `provider/id`.
        name: String,
        /// Why, and what to do.
        why: String,
    },
}

fn or_list(names: &[String], before: &str) -> String {
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => format!("{before}{last}"),
        Some((last, more)) => format!("{before}{} or {last}", more.join(", ")),
    }
}

impl Catalog {
    /// The model of that name: `provider/id`, or an id alone where only one provider has it, or only
    /// one of those that can be used. `replay/FILE` plays answers from a file.
    ///
    /// A command that gives the key is run here, once for a program; it may take some time.
    ///
    /// # Errors
    /// If there is none, if there are several, or if there is no key for it.
    pub fn find(&self, name: &str) -> Result<Endpoint, FindError> {
        let name = name.trim();
        match replayed(name) {
            Some(file) => Ok(replay(file)),
            None => endpoint(&self.named(name)?),
        }
    }

    /// Whether a model is meant by a name, be it one that can be used now or not. No command is run.
    ///
    /// # Errors
    /// If there is none, or if there are several.
    pub fn look_up(&self, name: &str) -> Result<(), FindError> {
        let name = name.trim();
        if replayed(name).is_none() {
            self.named(name)?;
        }
        Ok(())
    }

    fn named(&self, name: &str) -> Result<Listed<'_>, FindError> {
        let matches = |listed: &Listed<'_>| match name.strip_prefix(&*listed.provider.name) {
            Some(rest) if rest.strip_prefix('/') == Some(&listed.model.id) => true,
            _ => name == listed.model.id,
        };
        let exact = |listed: &Listed<'_>| listed.name() == name;
        let found: Vec<Listed<'_>> = self.models().filter(matches).collect();
        // An id may itself look like a provider and an id.
        let found = match found.iter().find(|listed| exact(listed)) {
            Some(listed) => vec![*listed],
            None => found,
        };
        let usable: Vec<Listed<'_>> =
            found.iter().filter(|listed| listed.why_not().is_none()).copied().collect();
        match (&*found, &*usable) {
            ([], _) => Err(FindError::Unknown { name: name.into(), near: self.near(name) }),
            ([one], _) | (_, [one]) => Ok(*one),
            (all, usable) => {
                let among = match usable {
                    [] => all.iter().map(Listed::name).collect(),
                    usable => usable.iter().map(|listed| listed.name()).collect(),
                };
                Err(FindError::Ambiguous { name: name.into(), among })
            }
        }
    }

    /// Names that are like `name`, the most like it first; those that can be used before the others.
    fn near(&self, name: &str) -> Vec<String> {
        let wanted = name.to_lowercase();
        let id = wanted.split_once('/').map_or(&*wanted, |(_, id)| id);
        let ranked: BTreeSet<_> = self
            .models()
            .filter_map(|listed| {
                let (whole, own) = (listed.name().to_lowercase(), listed.model.id.to_lowercase());
                let distance = distance(&whole, &wanted).min(distance(&own, id));
                let holds = !id.is_empty() && (whole.contains(id) || own.len() > 3 && id.contains(&*own));
                let is_near = holds || distance <= 1 + wanted.chars().count() / 4;
                is_near.then(|| (!holds, listed.why_not().is_some(), distance, listed.name()))
            })
            .collect();
        ranked.into_iter().map(|(.., name)| name).take(NEAR).collect()
    }
}

/// The file of recorded answers that a name means.
fn replayed(name: &str) -> Option<&str> {
    name.strip_prefix("replay/").filter(|file| !file.is_empty())
}

fn endpoint(listed: &Listed<'_>) -> Result<Endpoint, FindError> {
    let Listed { provider, model } = listed;
    let unusable = |why| FindError::Unusable { name: listed.name(), why };
    let key = provider.key.value("key").map_err(unusable)?;
    let mut headers = Vec::new();
    if let Some(key) = key.as_ref().filter(|_| provider.sends_bearer) {
        headers.push(("Authorization".to_owned(), Secret::new(format!("Bearer {}", key.reveal()))));
    }
    for (name, source) in listed.headers() {
        if let Some(value) = source.value(&of_header(name)).map_err(unusable)? {
            headers.push((name.clone(), value));
        }
    }
    Ok(Endpoint {
        api: listed.api(),
        provider: provider.name.clone(),
        model: model.id.clone(),
        base_url: listed.base_url().trim_end_matches('/').to_owned(),
        key,
        headers,
        context_window: model.context_window,
        max_output: model.max_output,
        thinks: model.thinks,
        sees: model.sees,
        cost: model.cost,
    })
}

fn replay(file: &str) -> Endpoint {
    Endpoint {
        api: Api::Replay,
        provider: "replay".into(),
        model: file.into(),
        base_url: String::new(),
        key: None,
        headers: Vec::new(),
        context_window: 200_000,
        max_output: 32_000,
        thinks: true,
        sees: true,
        cost: Cost::default(),
    }
}

/// Letters to change, add or take away to come from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    // Longer names are of no model.
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(200).collect(), b.chars().take(200).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, above) in b.iter().zip(row.iter_mut().skip(1)) {
            let change = diagonal + usize::from(x != y);
            diagonal = *above;
            left = change.min(left + 1).min(*above + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_are_those_of_letters() {
        for (a, b, want) in
            [("", "", 0), ("", "ab", 2), ("kitten", "sitting", 3), ("gpt-5", "gpt5", 1), ("ab", "ba", 2)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (want, want), "{a} {b}");
        }
    }
}
