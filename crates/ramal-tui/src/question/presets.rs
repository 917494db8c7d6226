//! The questions of the program itself, and what their options mean.

use super::{Choice, Question, Told};

/// What is to become of the branch that is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummaryAnswer {
    /// Nothing is to be said of it.
    No,
    /// It is to be summed up.
    Yes,
    /// It is to be summed up with this in mind.
    Focused(String),
}

impl SummaryAnswer {
    /// What was answered to [`summary`]; none if there is no answer yet.
    pub fn of(told: &Told) -> Option<SummaryAnswer> {
        match told {
            Told::Answer { option: 0, .. } => Some(SummaryAnswer::No),
            Told::Answer { text: Some(text), .. } if !text.trim().is_empty() => {
                Some(SummaryAnswer::Focused(text.clone()))
            }
            Told::Answer { .. } => Some(SummaryAnswer::Yes),
            _ => None,
        }
    }
}

/// Whether the branch that is left is to be summed up. `leaves` says what that branch is, such as `4 turns`;
/// it may be empty.
pub fn summary(leaves: &str) -> Question {
    Question::new("Sum up the branch that you leave?")
        .says(leaves)
        .option(Choice::new("No summary").says("go there at once"))
        .option(Choice::new("Summarise").says("the model is told what happened on the branch"))
        .option(
            Choice::new("Summarise with own instructions")
                .says("you say what matters")
                .text("What is the summary to pay attention to?", ""),
        )
        .back("back to the tree")
}

/// A call of a tool that somebody is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission<'a> {
    /// The tool.
    pub tool: &'a str,
    /// What the call would do, in words.
    pub reason: &'a str,
    /// The command, or whatever it is called on: all of it.
    pub shows: &'a str,
    /// What would be allowed for the rest of the session, in words; none if that cannot be answered.
    pub for_session: Option<&'a str>,
    /// What would be allowed in this project from now on; none if that cannot be answered.
    pub for_project: Option<&'a str>,
}

/// What is answered to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// It may be run, this once.
    Once,
    /// It may be run, and its like until the session ends.
    Session,
    /// It may be run, and its like in this project.
    Project,
    /// It may not be run.
    No,
}

impl PermissionAnswer {
    /// What was answered to [`permission`], whose options mean `answers`. Leaving the question is a no; none
    /// if there is no answer yet.
    pub fn of(told: &Told, answers: &[PermissionAnswer]) -> Option<PermissionAnswer> {
        match told {
            // An answer that is not known grants nothing.
            Told::Answer { option, .. } => {
                Some(answers.get(*option).copied().unwrap_or(PermissionAnswer::No))
            }
            Told::Back => Some(PermissionAnswer::No),
            _ => None,
        }
    }
}

/// Whether a call may be run, and what its options mean.
pub fn permission(asked: &Permission<'_>) -> (Question, Vec<PermissionAnswer>) {
    let mut question = Question::new(&format!("Run {}?", asked.tool)).says(asked.reason).shows(asked.shows);
    let mut answers = Vec::new();
    let options = [
        (PermissionAnswer::Once, 'y', "Yes", Some("")),
        (PermissionAnswer::Session, 's', "Yes, for this session", asked.for_session),
        (PermissionAnswer::Project, 'p', "Yes, for this project", asked.for_project),
        (PermissionAnswer::No, 'n', "No", Some("")),
    ];
    for (answer, key, text, says) in options {
        if let Some(says) = says {
            question = question.option(Choice::new(text).key(key).says(says));
            answers.push(answer);
        }
    }
    (question.back("no"), answers)
}
