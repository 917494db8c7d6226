//! Which model is chosen, and what is seen of them.

use super::*;
use crate::testing::{key, letters, sizes, text, view};

fn model(name: &str, context_window: u64, price: (f64, f64), able: (bool, bool)) -> ModelRow {
    ModelRow {
        name: name.into(),
        context_window,
        input_price: price.0,
        output_price: price.1,
        thinks: able.0,
        sees: able.1,
        is_present: name == "openai/gpt-4o",
    }
}

fn models() -> Vec<ModelRow> {
    vec![
        model("anthropic/claude-opus-4", 200_000, (15.0, 75.0), (true, true)),
        model("openai/gpt-4o-mini", 128_000, (0.15, 0.6), (false, true)),
        model("openai/gpt-4o", 128_000, (2.5, 10.0), (false, true)),
        model("local/llama \u{1b}[31m", 0, (0.0, 0.0), (false, false)),
    ]
}

fn shown() -> ModelView {
    let mut view = ModelView::new();
    view.set_rows(models(), true);
    view
}

#[test]
fn one_begins_at_the_present_model_and_finds_others() {
    let keymap = Keymap::default();
    for (query, want) in [
        ("", "openai/gpt-4o"),
        ("mini", "openai/gpt-4o-mini"),
        ("4o", "openai/gpt-4o"),
        ("opus", "anthropic/claude-opus-4"),
        ("thinking", "anthropic/claude-opus-4"),
        ("free", "local/llama \u{1b}[31m"),
        ("ogpm", "openai/gpt-4o-mini"),
    ] {
        let mut view = shown();
        letters(query).for_each(|letter| assert_eq!(view.key(&keymap, letter), Told::Redraw));
        assert_eq!(view.key(&keymap, key("enter")), Told::Choose(want.into()), "{query}");
    }
}

#[test]
fn models_that_are_found_later_move_nothing() {
    let keymap = Keymap::default();
    let mut models = models();
    let mut late = ModelView::new();
    late.set_rows(models.split_off(1), false);
    assert!(text(&view(60, 20, |scene| late.draw(scene)).lines).contains("looking  2/3"));
    late.key(&keymap, key("up"));
    late.set_rows(self::models(), true);
    assert_eq!(late.key(&keymap, key("enter")), Told::Choose("openai/gpt-4o-mini".into()));
}

#[test]
fn models_are_drawn() {
    let mut models = shown();
    let seen = view(100, 20, |scene| models.draw(scene));
    assert_eq!(
        text(&seen.lines),
        "\
Models                                                                                           3/4
Type to search
    anthropic/claude-opus-4                                      thinks  images  200k  $15.00/$75.00
    openai/gpt-4o-mini                                                   images  128k    $0.15/$0.60
› • openai/gpt-4o                                                        images  128k   $2.50/$10.00
    local/llama ␛[31m                                                               ?           free








────────────────────────────────────────────────────────────────────────────────────────────────────
openai/gpt-4o · at work now
Context      128,000 tokens
Price        $2.50 for a million tokens in, $10.00 out
… 2 more lines
Enter use · Esc back · Alt+V preview"
    );
    let seen = text(&view(60, 20, |scene| models.draw(scene)).lines);
    assert!(seen.contains("› • openai/gpt-4o"), "{seen}");
    let mut none = ModelView::new();
    none.set_rows(Vec::new(), true);
    assert!(text(&view(80, 20, |scene| none.draw(scene)).lines).contains("  No model can be used"));
    for (columns, rows) in sizes() {
        view(columns, rows, |scene| shown().draw(scene));
    }
}
