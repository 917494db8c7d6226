//! Themes: contrast, fewer colours, files.

use std::collections::HashMap;

use proptest::prelude::*;
use ratatui::style::{Color, Modifier};

use super::{Background, ColorDepth, Rgb, Role, Theme, Token};

const BLACK: Rgb = Rgb(0, 0, 0);
const WHITE: Rgb = Rgb(255, 255, 255);

/// Backgrounds that themes meet: the plain one, and one that schemes like to use in its place.
fn grounds(theme: &Theme) -> [Rgb; 2] {
    if theme.is_dark { [BLACK, Rgb(0x1e, 0x1e, 0x2e)] } else { [WHITE, Rgb(0xfd, 0xf6, 0xe3)] }
}

fn rgb(color: Option<Color>) -> Option<Rgb> {
    color.and_then(Rgb::of)
}

#[test]
fn text_can_be_read_on_its_background() {
    for theme in [Theme::dark(), Theme::light()] {
        for &role in Role::ALL {
            let style = theme.style(role);
            let Some(ink) = rgb(style.fg) else { continue };
            for ground in grounds(&theme).map(|ground| rgb(style.bg).unwrap_or(ground)) {
                let contrast = ink.contrast(ground);
                // Lines are seen and not read.
                let least = if matches!(role, Role::Border | Role::Branch) { 3.0 } else { 4.5 };
                assert!(contrast >= least, "{} {role:?} on {ground:?}: {contrast:.2}", theme.name);
            }
        }
    }
}

#[test]
fn every_role_but_plain_text_can_be_read_on_the_selected_row() {
    for theme in [Theme::dark(), Theme::light()] {
        let ground = rgb(theme.style(Role::Selected).bg).expect("a ground of its own");
        for role in Role::ALL.iter().copied().filter(|role| !matches!(role, Role::Border | Role::Branch)) {
            let style = theme.style(role);
            let Some(ink) = rgb(style.fg) else { continue };
            let contrast = ink.contrast(rgb(style.bg).unwrap_or(ground));
            assert!(contrast >= 4.5, "{} {role:?}: {contrast:.2}", theme.name);
        }
        let own = if theme.is_dark { WHITE } else { BLACK };
        assert!(own.contrast(ground) >= 7.0, "{}", theme.name);
    }
}

#[test]
fn a_theme_has_the_colours_of_its_terminal_and_no_others() {
    for background in [Background::Dark, Background::Light] {
        for depth in [ColorDepth::None, ColorDepth::Ansi16, ColorDepth::Ansi256, ColorDepth::TrueColor] {
            let theme = Theme::built_in(background, depth);
            assert_eq!(theme.is_dark, background == Background::Dark);
            for &role in Role::ALL {
                let style = theme.style(role);
                for color in [style.fg, style.bg].into_iter().flatten() {
                    assert!(fits(color, depth), "{background:?} {depth:?} {role:?}: {color:?}");
                }
            }
        }
    }
}

fn fits(color: Color, depth: ColorDepth) -> bool {
    match color {
        Color::Rgb(..) => depth == ColorDepth::TrueColor,
        Color::Indexed(_) => depth >= ColorDepth::Ansi256,
        _ => depth >= ColorDepth::Ansi16,
    }
}

#[test]
fn the_selected_row_is_told_without_colours_too() {
    for theme in [
        Theme::plain(),
        Theme::built_in(Background::Light, ColorDepth::Ansi16),
        Theme::dark().at(ColorDepth::None),
    ] {
        let style = theme.style(Role::Selected);
        assert!(style.add_modifier.contains(Modifier::REVERSED), "{theme:?}");
    }
}

#[test]
fn the_environment_says_how_many_colours_there_are() {
    use ColorDepth::{Ansi16, Ansi256, None, TrueColor};
    let table: &[(&[(&str, &str)], ColorDepth)] = &[
        (&[], None),
        (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], None),
        (&[("TERM", "xterm-256color"), ("NO_COLOR", "1")], None),
        (&[("TERM", "xterm-256color"), ("NO_COLOR", "")], Ansi256),
        (&[("TERM", "linux")], Ansi16),
        (&[("TERM", "xterm")], Ansi16),
        (&[("TERM", "xterm-256color")], Ansi256),
        (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], TrueColor),
        (&[("TERM", "xterm-256color"), ("COLORTERM", "24bit")], TrueColor),
        (&[("TERM", "xterm-kitty")], TrueColor),
        (&[("TERM", "xterm-direct")], TrueColor),
        (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")], Ansi256),
        (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], TrueColor),
        (&[("TERM", "tmux-256color"), ("TMUX", "/tmp/t,1,0")], Ansi256),
        (&[("TERM", "screen-256color"), ("TMUX", "/tmp/t,1,0"), ("COLORTERM", "truecolor")], TrueColor),
        (&[("TERM", "screen"), ("COLORTERM", "truecolor")], Ansi16),
        (&[("TERM", "screen.xterm-256color"), ("COLORTERM", "truecolor")], Ansi256),
        (&[("WT_SESSION", "1")], TrueColor),
    ];
    for (variables, depth) in table {
        let map: HashMap<&str, &str> = variables.iter().copied().collect();
        let found = ColorDepth::from_environment(|name| map.get(name).map(ToString::to_string));
        assert_eq!(found, *depth, "{variables:?}");
    }
}

#[test]
fn the_terminals_answer_is_understood() {
    let table: &[(&[u8], Option<Rgb>)] = &[
        (b"\x1b]11;rgb:1e1e/1e1e/2e2e\x07", Some(Rgb(0x1e, 0x1e, 0x2e))),
        (b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\", Some(WHITE)),
        (b"\x1b]11;rgb:ff/80/0\x1b\\", Some(Rgb(255, 128, 0))),
        (b"\x1b]11;rgba:0000/0000/0000/ffff\x07", Some(BLACK)),
        (b"\x1b]11;#fdf6e3\x07", Some(Rgb(0xfd, 0xf6, 0xe3))),
        (b"x\x1b[?1u\x1b]11;rgb:f/f/f\x07\x1b[?62c", Some(WHITE)),
        (b"]11;rgb:8/8/8", Some(Rgb(136, 136, 136))),
        (b"\x1b]11;rgb:1e1e/1e1e\x07", None),
        (b"\x1b]11;rgb:12345/0/0\x07", None),
        (b"\x1b]11;?\x07", None),
        (b"\x1b]10;rgb:0/0/0\x07", None),
        (b"", None),
    ];
    for (answer, color) in table {
        assert_eq!(Background::parse_answer(answer), *color, "{}", answer.escape_ascii());
    }
}

#[test]
fn the_background_is_what_is_known_best() {
    use Background::{Dark, Light};
    assert_eq!(Background::of(Rgb(0x28, 0x2c, 0x34)), Dark);
    assert_eq!(Background::of(Rgb(0xfd, 0xf6, 0xe3)), Light);
    assert_eq!(Background::choose(Some(WHITE), Some("15;0")), Light, "the answer comes first");
    assert_eq!(Background::choose(None, Some("0;15")), Light);
    assert_eq!(Background::choose(None, Some("0;default;7")), Light);
    assert_eq!(Background::choose(None, Some("15;8")), Dark);
    assert_eq!(Background::choose(None, Some("0;255")), Light);
    assert_eq!(Background::choose(None, Some("default")), Dark);
    assert_eq!(Background::choose(None, None), Dark);
}

#[test]
fn colours_become_the_nearest_ones() {
    let at = |depth: ColorDepth, red, green, blue| depth.reduce(Color::Rgb(red, green, blue), true);
    assert_eq!(at(ColorDepth::Ansi256, 0x5f, 0xd7, 0xd7), Some(Color::Indexed(80)));
    assert_eq!(at(ColorDepth::Ansi256, 255, 0, 0), Some(Color::Indexed(196)));
    assert_eq!(at(ColorDepth::Ansi256, 0x80, 0x80, 0x80), Some(Color::Indexed(244)));
    assert_eq!(at(ColorDepth::Ansi16, 250, 20, 20), Some(Color::LightRed));
    assert_eq!(at(ColorDepth::Ansi16, 10, 10, 10), Some(Color::DarkGray), "black on black is not seen");
    assert_eq!(ColorDepth::Ansi16.reduce(Color::Rgb(250, 250, 250), false), Some(Color::DarkGray));
    assert_eq!(ColorDepth::Ansi16.reduce(Color::Reset, true), Some(Color::Reset));
    assert_eq!(ColorDepth::None.reduce(Color::Red, true), None);
}

proptest! {
    #[test]
    fn a_colour_of_the_256_is_its_own_nearest(index in 16u8..=255) {
        let rgb = Rgb::of_index(index);
        prop_assert_eq!(Rgb::of_index(rgb.nearest_index()), rgb);
    }

    #[test]
    fn none_of_the_240_is_nearer_than_the_nearest(red: u8, green: u8, blue: u8) {
        let color = Rgb(red, green, blue);
        let chosen = color.distance_to_index(color.nearest_index());
        let best = (16..=255).map(|index| color.distance_to_index(index)).min().expect("some");
        // The eye counts one part twice as much as another at most.
        prop_assert!(chosen <= 2 * best, "{chosen} {best}");
    }

    #[test]
    fn any_file_is_read_without_harm(text in "(name|base|roles|colors|\\[|\\]|=|\"|\n|#|[a-z0-9]){0,60}") {
        let _ = Theme::read(&text, ColorDepth::TrueColor);
    }

    #[test]
    fn any_file_of_pis_is_read_without_harm(colors in "(\\{|\\}|\"a\"|\"accent\"|:|,|\"\"|[0-9]|\n){0,20}") {
        let text = format!("{{\"vars\": {{\"a\": \"a\"}}, \"colors\": {{{colors}}}}}");
        let _ = Theme::read_pi(&text, Background::Dark, ColorDepth::Ansi256);
    }

    #[test]
    fn any_answer_is_read_without_harm(answer: Vec<u8>) {
        let _ = Background::parse_answer(&[b"\x1b]11;rgb:", answer.as_slice()].concat());
    }
}

impl Rgb {
    fn distance_to_index(self, index: u8) -> u64 {
        let other = Rgb::of_index(index);
        let squared = |a: u8, b: u8| u64::from(a.abs_diff(b)).pow(2) * 512;
        squared(self.0, other.0) + squared(self.1, other.1) + squared(self.2, other.2)
    }
}

const OWN: &str = r##"name = "harbour"
base = "light"

[colors]
sea = "#5fd7d7"

[roles]
accent = "sea"
dim = 245
text = "default"
link = "bright-blue"
error = { fg = "red", bg = "#fff", modifiers = ["bold", "underlined"] }
"##;

#[test]
fn a_theme_of_ones_own() {
    let (theme, problems) = Theme::read(OWN, ColorDepth::TrueColor);
    assert_eq!(problems, []);
    assert_eq!((theme.name.as_str(), theme.is_dark), ("harbour", false));
    assert_eq!(theme.style(Role::Accent).fg, Some(Color::Rgb(0x5f, 0xd7, 0xd7)));
    assert_eq!(theme.style(Role::Dim).fg, Some(Color::Indexed(245)));
    assert_eq!(theme.style(Role::Text).fg, Some(Color::Reset));
    assert_eq!(theme.style(Role::Link).fg, Some(Color::LightBlue));
    let error = theme.style(Role::Error);
    assert_eq!((error.fg, error.bg), (Some(Color::Red), Some(Color::Rgb(255, 255, 255))));
    assert_eq!(error.add_modifier, Modifier::BOLD | Modifier::UNDERLINED);
    assert_eq!(theme.style(Role::Tool), Theme::light().style(Role::Tool));

    let (theme, _) = Theme::read(OWN, ColorDepth::Ansi256);
    assert_eq!(theme.style(Role::Accent).fg, Some(Color::Indexed(80)));
    let (theme, _) = Theme::read(OWN, ColorDepth::None);
    assert!(Role::ALL.iter().all(|role| theme.style(*role).fg.is_none()));
}

#[test]
fn what_cannot_be_used_of_a_theme_is_told_with_its_line() {
    let text = "base = \"gloomy\"\nbass = 1\n[colors]\nsea = \"see\"\n[roles]\naccent = \"#12\"\ndim = 256\n\
                shout = \"red\"\nerror = { fg = \"red\", modifiers = [\"bold\", \"loud\"], size = 3 }\ncode = true\n";
    let (theme, problems) = Theme::read(text, ColorDepth::TrueColor);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let starts = [
        "line 1: no theme to begin with is called \"gloomy\"",
        "line 2: nothing here is called \"bass\"",
        "line 4: no colour is called \"see\"",
        "line 6: no colour is called \"#12\"",
        "line 7: 256 is not between 0 and 255",
        "line 8: no role is called \"shout\"",
        "line 9: no modifier is called \"loud\"",
        "line 9: expected fg, bg or modifiers",
        "line 10: expected a colour",
    ];
    assert_eq!(told.len(), starts.len(), "{told:#?}");
    for (told, start) in told.iter().zip(starts) {
        assert!(told.starts_with(start), "{told}");
    }
    assert_eq!(theme.style(Role::Accent), Theme::dark().style(Role::Accent));
    assert_eq!(theme.style(Role::Error).fg, Some(Color::Red), "the rest of the line holds");

    let (theme, problems) = Theme::read("name = \"x\"\n[roles\n", ColorDepth::TrueColor);
    assert_eq!(theme, Theme::dark());
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].line, 2);
}

const PIS: &str = r##"{
  "$schema": "https://example.invalid/theme-schema.json",
  "name": "pier",
  "vars": { "sea": "#5fd7d7", "water": "sea", "mist": 245, "paper": "#f4f0e8" },
  "colors": {
    "accent": "water",
    "text": "",
    "muted": "mist",
    "dim": 240,
    "error": "#f00",
    "warning": "amber",
    "success": 300,
    "border": "loop",
    "mdHeading": true,
    "selectedBg": "paper",
    "syntaxKeyword": "sea",
    "statusLineBg": "whatever"
  },
  "export": { "pageBg": "#18181e" }
}"##;

#[test]
fn a_theme_of_pis() {
    let (theme, problems) = Theme::read_pi(PIS, Background::Dark, ColorDepth::TrueColor);
    let sea = Color::Rgb(0x5f, 0xd7, 0xd7);
    assert_eq!((theme.name.as_str(), theme.is_dark), ("pier", false), "by what stands behind text");
    for (role, color) in [
        (Role::Accent, sea),
        (Role::Active, sea),
        (Role::Text, Color::Reset),
        (Role::Dim, Color::Indexed(245)),
        (Role::Thinking, Color::Indexed(245)),
        (Role::Branch, Color::Indexed(240)),
        (Role::Error, Color::Rgb(255, 0, 0)),
    ] {
        assert_eq!(theme.style(role).fg, Some(color), "{role:?}");
    }
    assert_eq!(theme.style(Role::Selected).bg, Some(Color::Rgb(0xf4, 0xf0, 0xe8)));
    // What is missing or wrong is as it is without the theme.
    for role in [Role::Warning, Role::Success, Role::Border, Role::Heading, Role::Link, Role::Match] {
        assert_eq!(theme.style(role), Theme::light().style(role), "{role:?}");
    }
    assert_eq!(theme.token(Token::Keyword, ColorDepth::TrueColor).fg, Some(sea));
    let usual = Theme::light().token(Token::Text, ColorDepth::TrueColor);
    assert_eq!(theme.token(Token::Text, ColorDepth::TrueColor), usual);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let starts = [
        "line 11: no colour is called \"amber\"",
        "line 12: 300 is not between 0 and 255",
        "line 13: no colour is called \"loop\"",
        "line 14: expected a colour",
    ];
    assert_eq!(told.len(), starts.len(), "{told:#?}");
    for (told, start) in told.iter().zip(starts) {
        assert!(told.starts_with(start), "{told}");
    }
    let (theme, _) = Theme::read_pi(PIS, Background::Dark, ColorDepth::None);
    assert!(Role::ALL.iter().all(|role| theme.style(*role).fg.is_none()));
    assert_eq!(theme.token(Token::Keyword, ColorDepth::None).fg, None);
}

#[test]
fn what_is_no_theme_of_pis() {
    let light = Theme::light();
    for (text, told) in [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: expected an object"),
        ("{\n\"colors\": 3}", "line 2: expected an object called colors"),
        ("{}", "line 1: expected an object called colors"),
    ] {
        let (theme, problems) = Theme::read_pi(text, Background::Light, ColorDepth::TrueColor);
        assert_eq!(theme, light);
        assert!(problems.len() == 1 && problems[0].to_string().starts_with(told), "{problems:?}");
    }
    // Names that stand for themselves.
    let text = r##"{"vars": {"a": "b", "b": "a"}, "colors": {"accent": "a"}}"##;
    let (theme, problems) = Theme::read_pi(text, Background::Light, ColorDepth::TrueColor);
    assert_eq!((theme, problems.len()), (light, 1));
}

#[test]
fn code_has_its_own_colours() {
    let text = "[code]\nkeyword = \"#102030\"\nstring = 7\nshout = \"red\"\ntype = \"nothing\"\n";
    let (theme, problems) = Theme::read(text, ColorDepth::TrueColor);
    assert_eq!(theme.token(Token::Keyword, ColorDepth::TrueColor).fg, Some(Color::Rgb(0x10, 0x20, 0x30)));
    assert_eq!(theme.token(Token::Text, ColorDepth::TrueColor).fg, Some(Color::Indexed(7)));
    let told: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(told, [4, 5]);
    let (theme, _) = Theme::read(text, ColorDepth::None);
    assert_eq!(
        theme.token(Token::Keyword, ColorDepth::None),
        Theme::plain().token(Token::Keyword, ColorDepth::None)
    );
}

#[test]
fn the_example_and_the_document_know_every_role() {
    let (theme, problems) =
        Theme::read(include_str!("../../../../examples/themes/harbour.toml"), ColorDepth::TrueColor);
    assert_eq!((theme.name.as_str(), problems), ("harbour", Vec::new()));
    let document = include_str!("../../../../docs/themes.md");
    let names = Role::ALL.iter().map(|role| (role.name(), role.description()));
    let rows: Vec<String> = names.map(|(name, says)| format!("| `{name}` | {says} |")).collect();
    assert!(document.contains(&rows.join("\n")), "docs/themes.md lacks these rows:\n{}", rows.join("\n"));
    let code: Vec<String> = Token::names().map(|name| format!("`{name}`")).collect();
    assert!(document.contains(&code.join(", ")), "docs/themes.md lacks {}", code.join(", "));
    let example = document.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let (theme, problems) = Theme::read(example, ColorDepth::TrueColor);
    assert_eq!(problems, []);
    assert_ne!(theme, Theme::dark());
}
