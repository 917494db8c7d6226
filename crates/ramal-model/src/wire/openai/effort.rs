//! Which words for an effort OpenAI's models take. They refuse those of other generations.

use crate::request::ThinkingLevel;

/// The effort that comes nearest to `level` for `model`; none where nothing should be said.
pub(in crate::wire) fn effort(model: &str, level: ThinkingLevel) -> Option<&'static str> {
    let model = model.rsplit('/').next().unwrap_or_default().to_lowercase();
    let version = version(&model);
    let is_special = model.contains("codex") || model.contains("-pro");
    Some(match level {
        ThinkingLevel::Off if version >= Some((5, 1)) && !is_special => "none",
        // Older ones always think, and decide themselves how much.
        ThinkingLevel::Off => return None,
        ThinkingLevel::Minimal if version == Some((5, 0)) && !is_special => "minimal",
        ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::XHigh if version >= Some((5, 2)) || model.contains("codex-max") => "xhigh",
        ThinkingLevel::High | ThinkingLevel::XHigh => "high",
    })
}

/// The version in the name of a GPT that thinks: from 5.0, which is called 5; none for other families.
fn version(model: &str) -> Option<(u32, u32)> {
    let name = model.strip_prefix("gpt-")?;
    let end = name.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(name.len());
    let (major, minor) = name[..end].split_once('.').unwrap_or((&name[..end], "0"));
    let version = (major.parse().ok()?, minor.parse().unwrap_or(0));
    (version >= (5, 0)).then_some(version)
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
        assert_eq!(all("gpt-6"), ["none", "low", "low", "medium", "high", "xhigh"]);
        assert_eq!(all("gpt-6.2-sol"), ["none", "low", "low", "medium", "high", "xhigh"]);
        assert_eq!(all("gpt-4o"), ["-", "low", "low", "medium", "high", "high"]);
        assert_eq!(all(""), ["-", "low", "low", "medium", "high", "high"]);
    }
}
