//! A title for a new session, asked of its model.

use ramal_agent::ModelChoice;
use ramal_model::{Api, Block, Request, StopReason};
use ramal_session::json::quote;
use tokio_util::sync::CancellationToken;

use crate::work::Work;

const SYSTEM: &str = "You name conversations between a user and a coding agent. You are given how one begins. \
                      Answer with a name for it, of two to six words, in the language of the user: no quotes, \
                      no full stop, nothing else. Do not answer what is asked in it.";

/// Characters of the prompt that the name is made from.
const LONGEST_PROMPT: usize = 2000;

/// Characters of a name.
const LONGEST_TITLE: usize = 72;

/// Tokens for the answer; some models think a little whatever one asks of them.
const ANSWER: u64 = 512;

/// Asks for a title of a conversation that begins with `prompt`. None if there is no answer that would
/// do; a title is not worth an error. Recorded answers are for recorded questions: they give none.
pub(crate) fn ask(work: &Work, prompt: &str) -> impl Future<Output = Option<String>> + Send + 'static {
    let choice = work.session.model_choice().ok().and_then(|ModelChoice { model, .. }| model);
    let endpoint = choice.and_then(|name| (work.find_model)(&name).ok());
    let endpoint = endpoint.filter(|endpoint| endpoint.api != Api::Replay);
    let models = work.models.clone();
    let begins: String = prompt.chars().take(LONGEST_PROMPT).collect();
    async move {
        let endpoint = endpoint?;
        let text = format!("The conversation begins:\n\n{begins}");
        let request = Request {
            system: SYSTEM.to_owned(),
            messages: vec![format!(
                "{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
                quote(&text)
            )],
            max_output: Some(ANSWER),
            ..Request::default()
        };
        let outcome = models.stream(&endpoint, &request, CancellationToken::new()).outcome().await;
        outcome.result.ok()?;
        if outcome.answer.stop != StopReason::Stop {
            return None;
        }
        let texts = outcome.answer.blocks.iter().filter_map(|block| match block {
            Block::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        tidy(&texts.collect::<String>())
    }
}

/// What a model answered, as a title: one line without quotes and without a full stop.
fn tidy(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_start_matches(['#', '*', ' ']).trim_end_matches('*').trim();
    let line = line.strip_prefix("Title:").unwrap_or(line).trim();
    let line = line.trim_matches(['"', '\'', '`', '“', '”', '„', '«', '»']).trim_end_matches('.').trim();
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    // What is much longer is an answer and no title.
    (!line.is_empty() && line.chars().count() <= LONGEST_TITLE).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_tidied() {
        for (answer, want) in [
            ("Week 53 is lost", Some("Week 53 is lost")),
            ("\n **“Week 53”**\n\nBecause …", Some("Week 53")),
            ("# Title: Week\u{1b} dates.", Some("Week dates")),
            ("\"\"", None),
            ("", None),
        ] {
            assert_eq!(tidy(answer).as_deref(), want, "{answer}");
        }
        assert_eq!(tidy(&"word ".repeat(40)), None);
    }
}
