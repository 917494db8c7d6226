//! Which words for an effort OpenAI's models take. They refuse those of other generations.

use crate::request::ThinkingLevel;

/// The effort that comes nearest to `level` for `model`; none where nothing should be said.
pub(in crate::wire) fn effort(model: &str, level: ThinkingLevel) -> Option<&'static str> {
    let model = model.rsplit('/').next().unwrap_or_default().to_lowercase();
    let rest = model.strip_prefix("gpt-5");
    // The number behind the point: 0 for the first ones, none for other families.
    let minor: Option<u32> = rest.map(|rest| {
        let digits: String =
            rest.strip_prefix('.').unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    });
    let is_special = model.contains("codex") || model.contains("-pro");
    Some(match level {
        ThinkingLevel::Off if minor >= Some(1) && !is_special => "none",
        // Older ones always think, and decide themselves how much.
        ThinkingLevel::Off => return None,
        ThinkingLevel::Minimal if minor == Some(0) && !is_special => "minimal",
        ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::XHigh if minor >= Some(2) || model.contains("codex-max") => "xhigh",
        ThinkingLevel::High | ThinkingLevel::XHigh => "high",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generation_has_its_words() {
        let all = |model: &str| ThinkingLevel::ALL.map(|level| effort(model, level).unwrap_or("-"));
        assert_eq!(all("o3"), ["-", "low", "low", "medium", "high", "high"]);
        assert_eq!(all("gpt-5-mini"), ["-", "minimal", "low", "medium", "high", "high"]);
        assert_eq!(all("openai/gpt-5.1"), ["none", "low", "low", "medium", "high", "high"]);
        assert_eq!(all("gpt-5.2-2025-12-11"), ["none", "low", "low", "medium", "high", "xhigh"]);
        assert_eq!(all("gpt-5.1-codex-max"), ["-", "low", "low", "medium", "high", "xhigh"]);
        assert_eq!(all(""), ["-", "low", "low", "medium", "high", "high"]);
    }
}
