//! The models that there are, to choose one.

use ratatui::text::Line;

use crate::keys::{ActionId, Key, Keymap};
use crate::list_view::{self, Face, ListRow, ListView, Order, Start};
use crate::scene::{Scene, View};
use crate::text::width::fit;
use crate::text::{clean, human};
use crate::theme::{Role, Theme};

/// A model, as far as one chooses by it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRow {
    /// `provider/id`.
    pub name: String,
    /// Tokens that fit into a request and its answer together; 0 if that is not known.
    pub context_window: u64,
    /// Dollars for a million tokens that are sent.
    pub input_price: f64,
    /// Dollars for a million tokens that are answered.
    pub output_price: f64,
    /// Whether it can think before it answers.
    pub thinks: bool,
    /// Whether it takes images.
    pub sees: bool,
    /// Whether it is the one that is at work.
    pub is_present: bool,
}

impl ModelRow {
    /// What two prices are, in as few columns as that takes.
    fn prices(&self) -> String {
        if self.is_free() {
            return "free".into();
        }
        format!("{}/{}", human::cost(self.input_price), human::cost(self.output_price))
    }

    fn is_free(&self) -> bool {
        self.input_price == 0.0 && self.output_price == 0.0
    }

    fn window(&self) -> String {
        if self.context_window == 0 { "?".into() } else { human::short_count(self.context_window) }
    }
}

/// What a key asks of whoever shows the view; what is chosen is the name of a model.
pub type Told = list_view::Told<String>;

/// The models, and what is being searched in them.
#[derive(Debug, Clone)]
pub struct ModelView {
    list: ListView<String>,
    models: Vec<ModelRow>,
}

impl Default for ModelView {
    fn default() -> ModelView {
        ModelView::new()
    }
}

impl ModelView {
    /// A view without models, as long as it is looked which there are.
    pub fn new() -> ModelView {
        let mut list = ListView::new("Models", Start::Present, Order::BestFirst);
        list.set_empty("No model can be used: none has a key, and none runs on this machine");
        list.set_loading(Some("looking".into()));
        ModelView { list, models: Vec::new() }
    }

    /// The models are there, or more of them than before.
    pub fn set_rows(&mut self, models: Vec<ModelRow>, are_all: bool) {
        let columns = Columns::of(&models);
        let rows = models.iter().map(|model| {
            let row = ListRow::new(model.name.clone()).says(Role::Text, &model.name);
            let present = if model.is_present { " present" } else { "" };
            let able = [(model.thinks, " thinking"), (model.sees, " images")];
            let able: String = able.iter().filter(|(can, _)| *can).map(|(_, word)| *word).collect();
            row.right(&columns.line(model)).found_by(&format!("{able}{present}")).present(model.is_present)
        });
        self.list.set_rows(rows.collect());
        self.list.set_loading((!are_all).then(|| "looking".into()));
        self.models = models;
    }

    /// Says something below the rows, until the next key.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.list.notice(text);
    }

    /// A key was pressed.
    pub fn key(&mut self, keymap: &Keymap, key: Key) -> Told {
        self.list.key(keymap, key)
    }

    /// Something was pasted.
    pub fn paste(&mut self, text: &str) -> Told {
        self.list.paste(text)
    }

    /// What is seen: as many lines as there are rows on the screen, none wider than it.
    pub fn draw(&mut self, scene: &Scene<'_>) -> View {
        let hints =
            [(ActionId::Confirm, "use"), (ActionId::Cancel, "back"), (ActionId::TogglePreview, "preview")];
        let models = &self.models;
        let preview = |name: &String, columns: usize| match models.iter().find(|model| model.name == *name) {
            Some(model) => preview(model, scene.theme, columns),
            None => Vec::new(),
        };
        self.list.draw(scene, &Face::new(&hints).preview(&preview))
    }
}

/// How wide the parts are that stand at the right, below each other.
struct Columns {
    window: usize,
    prices: usize,
}

impl Columns {
    fn of(models: &[ModelRow]) -> Columns {
        let longest = |part: fn(&ModelRow) -> String| models.iter().map(|model| part(model).len()).max();
        Columns {
            window: longest(ModelRow::window).unwrap_or(0),
            prices: longest(ModelRow::prices).unwrap_or(0),
        }
    }

    fn line(&self, model: &ModelRow) -> String {
        let able = |can: bool, word: &'static str| if can { word } else { "" };
        format!(
            "{:6}  {:6}  {:>window$}  {:>prices$}",
            able(model.thinks, "thinks"),
            able(model.sees, "images"),
            model.window(),
            model.prices(),
            window = self.window,
            prices = self.prices,
        )
    }
}

/// A model in words.
fn preview(model: &ModelRow, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let yes = |is: bool| if is { "yes" } else { "no" };
    let window = match model.context_window {
        0 => "not known".to_owned(),
        window => format!("{} tokens", human::count(window)),
    };
    let price = match model.is_free() {
        true => "free".to_owned(),
        false => format!(
            "{} for a million tokens in, {} out",
            human::cost(model.input_price),
            human::cost(model.output_price)
        ),
    };
    let name = clean::one_line(&model.name, columns);
    let name = if model.is_present { format!("{name} · at work now") } else { name };
    let mut lines = vec![Line::styled(fit(&name, columns).into_owned(), theme.style(Role::Heading))];
    for (what, says) in [
        ("Context", &*window),
        ("Price", &*price),
        ("Thinks", yes(model.thinks)),
        ("Sees images", yes(model.sees)),
    ] {
        lines.push(Line::raw(fit(&format!("{what:<12} {says}"), columns).into_owned()));
    }
    lines
}

#[cfg(test)]
mod tests;
