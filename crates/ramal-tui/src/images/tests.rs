//! Headers, sizes in cells, and what terminals are told.

use std::collections::HashMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use proptest::prelude::*;

use super::*;

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0]);
    bytes
}

fn webp(kind: &[u8], rest: &[u8]) -> Vec<u8> {
    [b"RIFF\x40\0\0\0WEBP", kind, b"\x20\0\0\0", rest].concat()
}

/// A JPEG with what a camera says, and filling, before its frame.
fn jpeg(camera: usize) -> Vec<u8> {
    let mut bytes = b"\xff\xd8\xff\xe1".to_vec();
    bytes.extend(u16::try_from(camera + 2).unwrap().to_be_bytes());
    // What looks like a frame, and is none.
    bytes.extend([0xff, 0xc0].iter().cycle().take(camera));
    bytes.extend(b"\xff\xc4\0\x04ab\xff\xff\xff\xc2\0\x11\x08\x03\x00\x04\x00\x03");
    bytes
}

#[test]
fn the_first_bytes_say_how_large_a_picture_is() {
    let header = |bytes: &[u8]| Header::read(bytes).map(|h| (h.format, h.width, h.height));
    for (bytes, want) in [
        (png(1024, 768), Some((Format::Png, 1024, 768))),
        (b"GIF89a\x40\x01\xf0\x00\x80".to_vec(), Some((Format::Gif, 320, 240))),
        (b"GIF87a\x01\x00\x02\x00".to_vec(), Some((Format::Gif, 1, 2))),
        (jpeg(0), Some((Format::Jpeg, 1024, 768))),
        (jpeg(60_000), Some((Format::Jpeg, 1024, 768))),
        (webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a\x40\x41\xf0\x00"), Some((Format::WebP, 320, 240))),
        (webp(b"VP8L", b"\x2f\x3f\xc1\x3b\x00"), Some((Format::WebP, 320, 240))),
        (webp(b"VP8X", b"\x10\0\0\0\xff\x03\0\xff\x02\0"), Some((Format::WebP, 1024, 768))),
        // Cut off, damaged, or something else.
        (png(1024, 768)[..20].to_vec(), None),
        (jpeg(10)[..14].to_vec(), None),
        (b"\xff\xd8\xff\xda\0\x04ab\xff\xc0\0\x11\x08\x03\x00\x04\x00".to_vec(), None),
        (b"\xff\xd8\xff\xe0\0\x02not a segment".to_vec(), None),
        (webp(b"VP9 ", b"\0\0\0\x9d\x01\x2a\x40\x01\xf0\x00"), None),
        (b"<svg/>".to_vec(), None),
        (Vec::new(), None),
    ] {
        assert_eq!(header(&bytes), want, "{}", bytes[..bytes.len().min(40)].escape_ascii());
    }
}

#[test]
fn pictures_keep_their_proportions_in_cells() {
    let cell = Cell { width: 10, height: 20 };
    for ((width, height), (columns, rows), want) in [
        // As large as it is, and no larger.
        ((100, 100), (80, 40), Some((10, 5))),
        ((101, 101), (80, 40), Some((11, 6))),
        ((1, 1), (80, 40), Some((1, 1))),
        // No wider than the screen, and no higher than what it may take.
        ((1600, 200), (80, 40), Some((80, 5))),
        ((800, 4000), (80, 60), Some((8, MOST_ROWS))),
        ((2000, 2000), (20, 60), Some((20, 10))),
        // The row below must have room on the screen.
        ((400, 400), (80, 11), Some((20, 10))),
        ((400, 400), (80, 1), None),
        ((400, 400), (0, 40), None),
        // Thin ones are at least seen.
        ((100_000, 1), (80, 40), Some((80, 1))),
        ((0, 10), (80, 40), None),
    ] {
        let bytes = png(width, height);
        let placed = Picture::new(&bytes).unwrap().place(Protocol::Kitty, cell, columns, rows);
        assert_eq!(placed.map(|placed| (placed.columns(), placed.rows())), want, "{width}×{height}");
    }
    assert_eq!(Cell::of_window(100, 40, 1000, 800), cell);
    assert_eq!(Cell::of_window(100, 40, 0, 0), Cell::default());
    assert_eq!(Cell::of_window(0, 0, 8, 0), Cell::default());
}

#[test]
fn kitty_gets_a_png_in_pieces_that_make_it_whole() {
    let mut bytes = png(300, 300);
    bytes.extend((0..10_000u32).map(|number| number.to_le_bytes()[0] ^ 0x5a));
    let placed = Picture::new(&bytes).unwrap().place(Protocol::Kitty, Cell::default(), 80, 40).unwrap();
    let over = placed.over();
    let inner = over.strip_prefix(&format!("\x1b7\x1b[{}A", placed.rows())).unwrap().strip_suffix("\x1b8");
    let commands: Vec<(&str, &str)> = inner
        .unwrap()
        .split_terminator("\x1b\\")
        .map(|command| command.strip_prefix("\x1b_G").unwrap().split_once(';').unwrap())
        .collect();
    let text: String = commands.iter().map(|(_, text)| *text).collect();
    assert_eq!(BASE64_STANDARD.decode(text).unwrap(), bytes);
    assert!(commands.iter().all(|(_, text)| text.len() <= 4096 && !text.is_empty()));
    let first = format!("a=T,f=100,t=d,q=2,C=1,c={},r={},m=1", placed.columns(), placed.rows());
    let last = commands.len() - 1;
    assert!(last > 1);
    for (number, (what, _)) in commands.iter().enumerate() {
        let want = if number == 0 {
            &*first
        } else if number == last {
            "q=2,m=0"
        } else {
            "q=2,m=1"
        };
        assert_eq!(*what, want);
    }
}

#[test]
fn a_small_png_is_one_piece() {
    let bytes = png(9, 18);
    let placed = Picture::new(&bytes).unwrap().place(Protocol::Kitty, Cell::default(), 80, 40).unwrap();
    let text = BASE64_STANDARD.encode(&bytes);
    assert_eq!(
        placed.over(),
        format!("\x1b7\x1b[1A\x1b_Ga=T,f=100,t=d,q=2,C=1,c=1,r=1,m=0;{text}\x1b\\\x1b8")
    );
}

#[test]
fn iterm_gets_the_file_as_it_is() {
    let bytes = jpeg(3);
    let placed = Picture::new(&bytes).unwrap().place(Protocol::Iterm, Cell::default(), 40, 30).unwrap();
    let text = BASE64_STANDARD.encode(&bytes);
    assert_eq!(
        placed.over(),
        format!(
            "\x1b7\x1b[{rows}A\x1b]1337;File=inline=1;size={};width={};height={rows};preserveAspectRatio=1:{text}\x07\x1b8",
            bytes.len(),
            placed.columns(),
            rows = placed.rows(),
        )
    );
}

#[test]
fn what_cannot_be_drawn_is_named() {
    let bytes = jpeg(3);
    let picture = Picture::new(&bytes).unwrap();
    assert_eq!(picture.place(Protocol::Kitty, Cell::default(), 80, 40), None, "kitty takes PNG only");
    assert_eq!(picture.to_string(), format!("[image image/jpeg 1024×768, {} B]", bytes.len()));
    let mut huge = png(1024, 768);
    huge.resize(MOST_BYTES + 1, 0);
    let picture = Picture::new(&huge).unwrap();
    assert_eq!(picture.place(Protocol::Iterm, Cell::default(), 80, 40), None);
    assert_eq!(picture.to_string(), "[image image/png 1024×768, 2.1 MB]");
    assert!(Picture::new(b"no picture").is_none());
}

#[test]
fn the_environment_says_what_the_terminal_draws() {
    use Protocol::{Iterm, Kitty};
    type Variables = &'static [(&'static str, &'static str)];
    let table: &[(Variables, Option<Protocol>)] = &[
        (&[], None),
        (&[("TERM", "xterm-256color")], None),
        (&[("TERM", "xterm-kitty")], Some(Kitty)),
        (&[("TERM", "xterm-ghostty")], Some(Kitty)),
        (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1")], Some(Kitty)),
        (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "")], None),
        (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "ghostty")], Some(Kitty)),
        (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], Some(Iterm)),
        (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], Some(Iterm)),
        (&[("TERM", "xterm-256color"), ("LC_TERMINAL", "iTerm2")], Some(Iterm)),
        (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")], None),
        // An editor's terminal that was started from kitty.
        (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode"), ("KITTY_WINDOW_ID", "1")], None),
        (&[("TERM", "tmux-256color"), ("KITTY_WINDOW_ID", "1")], None),
        (&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/t,1,0")], None),
        (&[("TERM", "screen.xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], None),
        (&[("TERM", "xterm-256color"), ("STY", "1.pts"), ("TERM_PROGRAM", "iTerm.app")], None),
        (&[("TERM", "dumb"), ("TERM_PROGRAM", "iTerm.app")], None),
    ];
    for (variables, want) in table {
        let map: HashMap<&str, &str> = variables.iter().copied().collect();
        let found = Protocol::from_environment(|name| map.get(name).map(ToString::to_string));
        assert_eq!(found, *want, "{variables:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_picture_that_is_dropped_is_pasted_as_its_path() {
    for (text, want) in [
        ("/tmp/a.png", Some("/tmp/a.png")),
        ("/tmp/a.png \n", Some("/tmp/a.png")),
        ("'/tmp/my cat.JPG'", Some("/tmp/my cat.JPG")),
        ("\"/tmp/my cat.webp\"", Some("/tmp/my cat.webp")),
        ("/tmp/my\\ cat\\(1\\).gif", Some("/tmp/my cat(1).gif")),
        ("file:///tmp/my%20c%C3%A4t.png", Some("/tmp/my cät.png")),
        ("file://localhost/tmp/a.png", Some("/tmp/a.png")),
        ("/tmp/my cat.png", None),
        ("see /tmp/a.png", None),
        ("/tmp/a.png\n/tmp/b.png", None),
        ("cat.png", None),
        ("/tmp/notes.md", None),
        ("file:///tmp/%zz.png", None),
        ("file:///tmp/%00.png", None),
        ("'/tmp/a.png' '/tmp/b.png'", None),
        ("/tmp/a.png\\", None),
        ("", None),
    ] {
        assert_eq!(pasted_path(text), want.map(PathBuf::from), "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_harm(
        start in prop::sample::select(vec![png(1, 1), jpeg(9), b"GIF89a".to_vec(), webp(b"VP8L", b"")]),
        rest: Vec<u8>,
        cut in 0usize..60,
    ) {
        let bytes = [&start[..cut.min(start.len())], &rest].concat();
        if let Some(picture) = Picture::new(&bytes)
            && let Some(placed) = picture.place(Protocol::Iterm, Cell::default(), 80, 24)
        {
            prop_assert!(placed.columns() <= 80 && placed.rows() <= MOST_ROWS);
        }
    }

    #[test]
    fn every_size_fits(width: u32, height: u32, columns in 1u16..400, rows in 2u16..200) {
        let bytes = png(width, height);
        let placed = Picture::new(&bytes).unwrap().place(Protocol::Kitty, Cell::default(), columns, rows);
        if let Some(placed) = placed {
            prop_assert!((1..=columns).contains(&placed.columns()) && placed.rows() < rows);
        }
    }
}
