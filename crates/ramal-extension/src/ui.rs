//! What extensions show and ask: the door to whoever has a user. Texts come as the extension gave them,
//! so that whoever shows them has to make them harmless.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// An answer of the user's.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A question to the user. A dialog is closed when its future is dropped.
#[derive(Debug, Clone)]
pub struct Question {
    /// The extension that asks.
    pub extension: String,
    /// What stands above.
    pub title: String,
    /// After so long it counts as not answered.
    pub timeout: Option<Duration>,
    /// Cancelled when nobody wants to know any more.
    pub signal: CancellationToken,
}

impl Question {
    /// Waits until nobody wants to know any more, or its time is over; the time begins when this is polled.
    pub async fn given_up(&self) {
        let over = async {
            match self.timeout {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.signal.cancelled() => {}
            () = over => {}
        }
    }
}

/// Where a widget stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// Above the editor.
    #[default]
    AboveEditor,
    /// Below it.
    BelowEditor,
}

/// How important a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the inventory")]
pub enum Notice {
    Info,
    Warning,
    Error,
}

impl Notice {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Notice::Info => "info",
            Notice::Warning => "warning",
            Notice::Error => "error",
        }
    }
}

/// Whoever has a user, or has none.
pub trait Ui: Send + Sync {
    /// Whether there is a user to be asked.
    fn has_ui(&self) -> bool;

    /// One of several; none if the user chose none.
    fn select(&self, question: Question, options: Vec<String>) -> Answer<'_, Option<String>>;

    /// Yes or no.
    fn confirm(&self, question: Question, message: String) -> Answer<'_, bool>;

    /// A line; none if the user gave none.
    fn input(&self, question: Question, placeholder: Option<String>) -> Answer<'_, Option<String>>;

    /// A text of several lines; none if the user gave none.
    fn editor(&self, question: Question, prefill: Option<String>) -> Answer<'_, Option<String>>;

    /// Says something once.
    fn notify(&self, extension: &str, message: &str, notice: Notice);

    /// Shows a line as long as it is not taken away.
    fn set_status(&self, extension: &str, key: &str, text: Option<&str>);

    /// Shows lines as long as they are not taken away.
    fn set_widget(&self, extension: &str, key: &str, lines: Option<&[String]>, placement: Placement);

    /// Sets the window's title.
    fn set_title(&self, title: &str);

    /// Puts a text where one types.
    fn set_editor_text(&self, text: &str);

    /// What stands there.
    fn editor_text(&self) -> String;
}

/// Nobody is there: nothing is chosen, nothing confirmed, nothing shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoUi;

impl Ui for NoUi {
    fn has_ui(&self) -> bool {
        false
    }

    fn select(&self, _: Question, _: Vec<String>) -> Answer<'_, Option<String>> {
        Box::pin(async { None })
    }

    fn confirm(&self, _: Question, _: String) -> Answer<'_, bool> {
        Box::pin(async { false })
    }

    fn input(&self, _: Question, _: Option<String>) -> Answer<'_, Option<String>> {
        Box::pin(async { None })
    }

    fn editor(&self, _: Question, _: Option<String>) -> Answer<'_, Option<String>> {
        Box::pin(async { None })
    }

    fn notify(&self, _: &str, _: &str, _: Notice) {}

    fn set_status(&self, _: &str, _: &str, _: Option<&str>) {}

    fn set_widget(&self, _: &str, _: &str, _: Option<&[String]>, _: Placement) {}

    fn set_title(&self, _: &str) {}

    fn set_editor_text(&self, _: &str) {}

    fn editor_text(&self) -> String {
        String::new()
    }
}
