//! Ids of calls, made acceptable to whoever gets them: the same for a call and its result, different
//! for different calls, the same again whenever the conversation is sent.

use std::collections::{HashMap, HashSet};

use ramal_session::stable_hash;

use crate::wire::messages::acceptable;

/// What a provider accepts as the id of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::wire) enum IdRule {
    /// Letters, digits, `_` and `-`, at most so many.
    AtMost(usize),
    /// Letters and digits, exactly so many.
    Exactly(usize),
}

impl IdRule {
    fn accepts(self, id: &str) -> bool {
        match self {
            IdRule::AtMost(max) => {
                !id.is_empty()
                    && id.len() <= max
                    && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
            }
            IdRule::Exactly(length) => id.len() == length && id.bytes().all(|b| b.is_ascii_alphanumeric()),
        }
    }

    /// An id made from `id`; another one for every `attempt`.
    fn made_from(self, id: &str, attempt: usize) -> String {
        let hash = format!("{:016x}", stable_hash(&[id.as_bytes(), attempt.to_string().as_bytes()]));
        match self {
            IdRule::Exactly(length) => hash.chars().cycle().take(length).collect(),
            IdRule::AtMost(max) => {
                let start: String = id
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
                    .take(max.saturating_sub(17))
                    .collect();
                format!("{start}_{hash}")
            }
        }
    }
}

/// The ids of the calls of one request.
#[derive(Debug)]
pub(in crate::wire) struct CallIds {
    rule: IdRule,
    used: HashSet<String>,
    /// How the ids of the last answer with calls are sent.
    sent_as: HashMap<String, String>,
}

impl CallIds {
    pub(in crate::wire) fn new(rule: IdRule) -> CallIds {
        CallIds { rule, used: HashSet::new(), sent_as: HashMap::new() }
    }

    /// An answer begins: results behind it belong to its calls.
    pub(in crate::wire) fn answer(&mut self) {
        self.sent_as.clear();
    }

    /// How the id of a call is sent; `id` is the one in the log, `wanted` what the provider called it.
    pub(in crate::wire) fn call(&mut self, id: &str, wanted: &str) -> String {
        let mut sent = wanted.to_owned();
        let mut attempt = 0;
        while !self.rule.accepts(&sent) || self.used.contains(&sent) {
            sent = self.rule.made_from(wanted, attempt);
            attempt += 1;
        }
        self.used.insert(sent.clone());
        self.sent_as.insert(id.to_owned(), sent.clone());
        sent
    }

    /// How the id that a result names is sent, if the answer before it has that call.
    pub(in crate::wire) fn result(&self, id: &str) -> Option<&str> {
        self.sent_as.get(id).map(String::as_str)
    }
}

/// A tool's name as every provider accepts it. Names of calls in the log may come from anywhere.
pub(in crate::wire) fn tool_name(name: &str) -> String {
    acceptable(name, 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_acceptable_different_and_stable() {
        for rule in [IdRule::AtMost(40), IdRule::AtMost(64), IdRule::Exactly(9)] {
            let wanted = [
                "abcdefghi",
                "abcdefghi",
                "",
                "call_1|fc_2",
                "ü",
                &"x".repeat(500),
                "call_1|fc_2",
                "toolu_01",
            ];
            let all = || {
                let mut ids = CallIds::new(rule);
                wanted.map(|id| ids.call(id, id))
            };
            let sent = all();
            assert_eq!(sent, all());
            assert!(sent.iter().all(|id| rule.accepts(id)), "{sent:?}");
            assert_eq!(sent.iter().collect::<HashSet<_>>().len(), sent.len(), "{sent:?}");
            assert_eq!(sent[0], "abcdefghi");
        }
    }

    #[test]
    fn a_result_belongs_to_the_answer_before_it() {
        let mut ids = CallIds::new(IdRule::AtMost(40));
        ids.answer();
        let first = ids.call("a", "a");
        ids.answer();
        assert_eq!(ids.result("a"), None);
        let second = ids.call("a", "a");
        assert_ne!(first, second);
        assert_eq!(ids.result("a"), Some(second.as_str()));
    }

    #[test]
    fn names_are_acceptable() {
        assert_eq!(tool_name("functions.read file"), "functions_read_file");
        assert_eq!(tool_name(""), "_");
        assert_eq!(tool_name(&"é".repeat(99)).len(), 64);
    }
}
