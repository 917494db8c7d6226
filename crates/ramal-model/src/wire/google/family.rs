//! What the families of Gemini models differ in, told by their names.

use crate::request::ThinkingLevel;

/// A family of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Family {
    /// The number of the generation, times ten: 25 is 2.5. None for what is no Gemini.
    generation: Option<u32>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pro,
    Flash,
    FlashLite,
}

/// How a model is told how much to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// By a level.
    Level(&'static str),
    /// By a number of tokens.
    Budget(u32),
    /// Not at all.
    AsItLikes,
}

impl Family {
    pub(super) fn of(model: &str) -> Family {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let kind = match () {
            () if name.contains("flash-lite") => Kind::FlashLite,
            () if name.contains("flash") => Kind::Flash,
            () => Kind::Pro,
        };
        let generation = name.strip_prefix("gemini-").map(|rest| {
            let digits = rest.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
            let (major, minor) = digits.split_once('.').unwrap_or((digits, "0"));
            match (major.parse::<u32>(), minor.parse::<u32>()) {
                (Ok(major), Ok(minor)) => major.saturating_mul(10).saturating_add(minor.min(9)),
                // `gemini-pro-latest`: whatever is the newest.
                _ => u32::MAX,
            }
        });
        Family { generation, kind }
    }

    /// From the third generation on, a call that comes back without its signature is refused.
    pub(super) fn wants_signatures(self) -> bool {
        self.generation.is_some_and(|generation| generation >= 30)
    }

    /// From the third generation on, a function's result may hold images.
    pub(super) fn takes_images_in_results(self) -> bool {
        self.wants_signatures()
    }

    pub(super) fn thinking(self, level: ThinkingLevel) -> Thinking {
        use ThinkingLevel as L;
        match self.generation {
            Some(30..) => Thinking::Level(self.level(level)),
            Some(25..30) => {
                let (least, most) = match self.kind {
                    Kind::Pro => (128, 32_768),
                    Kind::Flash | Kind::FlashLite => (0, 24_576),
                };
                Thinking::Budget(match level {
                    L::Off => least,
                    L::Minimal => 512,
                    L::Low => 2_048,
                    L::Medium => 8_192,
                    L::High => 20_480,
                    L::XHigh => most,
                })
            }
            _ => Thinking::AsItLikes,
        }
    }

    /// `low` and `high` are known to all; the first of the generation knew no `medium`, and `minimal`
    /// came and went with the Flash models. None of them can be kept from thinking altogether.
    fn level(self, level: ThinkingLevel) -> &'static str {
        use ThinkingLevel as L;
        let has_minimal = self.kind != Kind::Pro && self.generation.is_some_and(|it| (30..=36).contains(&it));
        match level {
            L::Off | L::Minimal if has_minimal => "minimal",
            L::Off | L::Minimal | L::Low => "low",
            L::Medium if self.kind == Kind::Pro && self.generation == Some(30) => "high",
            L::Medium => "medium",
            L::High | L::XHigh => "high",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_family() {
        let off = |name: &str| Family::of(name).thinking(ThinkingLevel::Off);
        let most = |name: &str| Family::of(name).thinking(ThinkingLevel::XHigh);
        assert_eq!(
            (off("gemini-2.5-pro"), most("gemini-2.5-pro")),
            (Thinking::Budget(128), Thinking::Budget(32_768))
        );
        assert_eq!(off("models/gemini-2.5-flash-lite"), Thinking::Budget(0));
        assert_eq!(
            (off("gemini-3-flash-preview"), most("gemini-3-pro-preview")),
            (Thinking::Level("minimal"), Thinking::Level("high"))
        );
        assert_eq!(
            (off("gemini-3.8-flash"), off("gemini-pro-latest")),
            (Thinking::Level("low"), Thinking::Level("low"))
        );
        assert_eq!(
            Family::of("gemini-3-pro-preview").thinking(ThinkingLevel::Medium),
            Thinking::Level("high")
        );
        assert_eq!(
            Family::of("gemini-3.1-pro-preview").thinking(ThinkingLevel::Medium),
            Thinking::Level("medium")
        );
        for name in ["gemma-4-26b-a4b-it", "gemini-2.0-flash", "gemini-1.5-pro", ""] {
            assert_eq!(
                (off(name), Family::of(name).wants_signatures()),
                (Thinking::AsItLikes, false),
                "{name}"
            );
        }
        assert!(
            Family::of("gemini-3-pro-preview").wants_signatures()
                && Family::of("gemini-flash-latest").wants_signatures()
        );
        assert!(!Family::of("gemini-2.5-pro").wants_signatures());
    }
}
