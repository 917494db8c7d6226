//! What the first bytes of a picture say: its kind, its width and its height.

/// The kinds of pictures that models take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    WebP,
}

impl Format {
    /// Its MIME type.
    pub fn mime_type(self) -> &'static str {
        match self {
            Format::Png => "image/png",
            Format::Jpeg => "image/jpeg",
            Format::Gif => "image/gif",
            Format::WebP => "image/webp",
        }
    }
}

/// What a picture says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Its kind.
    pub format: Format,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
}

impl Header {
    /// The header of a picture, from its first bytes: 32 are enough, but for JPEG, whose size stands behind
    /// whatever a camera had to say. None if they are no picture, or do not say how large it is.
    pub fn read(bytes: &[u8]) -> Option<Header> {
        let (format, (width, height)) = match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => (Format::Png, png(bytes)?),
            [0xff, 0xd8, 0xff, ..] => (Format::Jpeg, jpeg(bytes)?),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => (Format::Gif, gif(bytes)?),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => (Format::WebP, webp(bytes)?),
            _ => return None,
        };
        Some(Header { format, width, height })
    }
}

/// The bytes at a place.
fn at<const N: usize>(bytes: &[u8], place: usize) -> Option<[u8; N]> {
    bytes.get(place..place.checked_add(N)?)?.try_into().ok()
}

fn u16_be(bytes: &[u8], place: usize) -> Option<u32> {
    at(bytes, place).map(u16::from_be_bytes).map(u32::from)
}

fn u16_le(bytes: &[u8], place: usize) -> Option<u32> {
    at(bytes, place).map(u16::from_le_bytes).map(u32::from)
}

fn u24_le(bytes: &[u8], place: usize) -> Option<u32> {
    at::<3>(bytes, place).map(|[low, middle, high]| u32::from_le_bytes([low, middle, high, 0]))
}

/// The first chunk is always the one with the size.
fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    if at(bytes, 12)? != *b"IHDR" {
        return None;
    }
    Some((u32::from_be_bytes(at(bytes, 16)?), u32::from_be_bytes(at(bytes, 20)?)))
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    Some((u16_le(bytes, 6)?, u16_le(bytes, 8)?))
}

/// Three ways of storing, each with the size at a place of its own.
fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match &at::<4>(bytes, 12)? {
        b"VP8 " if at(bytes, 23)? == [0x9d, 0x01, 0x2a] => {
            // The two highest bits say how to scale, which nobody does.
            Some((u16_le(bytes, 26)? & 0x3fff, u16_le(bytes, 28)? & 0x3fff))
        }
        b"VP8L" if at(bytes, 20)? == [0x2f] => {
            let bits = u32::from_le_bytes(at(bytes, 21)?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((u24_le(bytes, 24)? + 1, u24_le(bytes, 27)? + 1)),
        _ => None,
    }
}

/// A JPEG is a row of segments, each with its length. The size stands in the one that begins the frame.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut place = 2;
    loop {
        let [mark, kind] = at(bytes, place)?;
        match (mark, kind) {
            // Any number of them may fill the gap between segments.
            (0xff, 0xff) => place += 1,
            // These have no length.
            (0xff, 0x01 | 0xd0..=0xd8) => place += 2,
            (0xff, 0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf) => {
                return Some((u16_be(bytes, place + 7)?, u16_be(bytes, place + 5)?));
            }
            // The picture itself begins, or has ended, and nothing was said of its size.
            (0xff, 0xd9 | 0xda) => return None,
            (0xff, _) => place += 2 + usize::try_from(u16_be(bytes, place + 2)?).ok()?,
            _ => return None,
        }
    }
}
