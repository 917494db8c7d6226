//! Ids of entries: as text outside, as eight bytes inside the index.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU64;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The id of an entry, as it stands in the log.
///
/// Derefs to `str`, so that an id just answered can be handed on wherever one is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(Box<str>);

impl EntryId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for EntryId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for EntryId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for EntryId {
    fn from(text: &str) -> Self {
        EntryId(text.into())
    }
}

impl From<String> for EntryId {
    fn from(text: String) -> Self {
        EntryId(text.into())
    }
}

impl PartialEq<str> for EntryId {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for EntryId {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

/// An id in eight bytes.
///
/// Up to eight ASCII characters stand for themselves, which is every id that this program and its
/// peers make. Anything else is a hash of 63 bits under a key drawn at random for this process, so
/// that no file can be made whose ids collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct IdKey(NonZeroU64);

const HASHED: NonZeroU64 = NonZeroU64::new(1 << 63).unwrap();
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

impl IdKey {
    /// The key of an id; none for the empty text, which is no id.
    pub(crate) fn of(id: &[u8]) -> Option<IdKey> {
        match id.len() {
            0 => None,
            8 => IdKey::of_eight(id.try_into().ok()?).or_else(|| Some(IdKey::hashed(id))),
            1..8 if id.is_ascii() && !id.contains(&0) => {
                let mut bytes = [0; 8];
                bytes[..id.len()].copy_from_slice(id);
                NonZeroU64::new(u64::from_be_bytes(bytes)).map(IdKey)
            }
            _ => Some(IdKey::hashed(id)),
        }
    }

    /// The key of an id of eight ASCII characters; none if it is not of these.
    pub(crate) fn of_eight(id: [u8; 8]) -> Option<IdKey> {
        let word = u64::from_be_bytes(id);
        let has_zero = word.wrapping_sub(0x0101_0101_0101_0101) & !word & HIGH_BITS != 0;
        if word & HIGH_BITS == 0 && !has_zero { NonZeroU64::new(word).map(IdKey) } else { None }
    }

    fn hashed(id: &[u8]) -> IdKey {
        static KEYS: OnceLock<RandomState> = OnceLock::new();
        IdKey(HASHED | KEYS.get_or_init(RandomState::new).hash_one(id))
    }

    /// The id itself, where the key holds it.
    pub(crate) fn text(self) -> Option<String> {
        if self.0.get() & HASHED.get() != 0 {
            return None;
        }
        let bytes = self.0.get().to_be_bytes();
        let end = bytes.iter().position(|&b| b == 0).unwrap_or(8);
        String::from_utf8(bytes[..end].to_vec()).ok()
    }

    pub(crate) fn bits(self) -> u64 {
        self.0.get()
    }
}

/// Eight lowercase hex characters: the form of the ids that this program makes.
pub(crate) fn short_id(bits: u32) -> String {
    format!("{bits:08x}")
}

/// Bits for a new id: no two calls of a process give the same for the same reason, and no two
/// processes either. No call to the system is made for them.
pub(crate) fn fresh_bits() -> u32 {
    static KEYS: OnceLock<RandomState> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    KEYS.get_or_init(RandomState::new).hash_one(COUNT.fetch_add(1, Ordering::Relaxed)) as u32
}

/// A hash that stays the same for ever: migrated ids are derived from it, and what is remembered
/// beside a log is found by it. It keeps apart what differs by chance, not what was made to collide.
pub fn stable_hash(parts: &[&[u8]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for part in parts {
        for &byte in *part {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        hash = (hash ^ 0xff).wrapping_mul(0x0000_0100_0000_01b3);
    }
    // The last bytes have not reached the high bits yet.
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_stand_for_themselves() {
        for id in ["a", "0a1b2c3d", "__proto", "x y\"z"] {
            assert_eq!(IdKey::of(id.as_bytes()).and_then(IdKey::text).as_deref(), Some(id));
        }
        assert_eq!(IdKey::of(b""), None);
        for id in ["0195a0b1-0000-7000-8000-000000000012", "\u{e9}", "a\0"] {
            let key = IdKey::of(id.as_bytes()).unwrap();
            assert_eq!((key.text(), IdKey::of(id.as_bytes())), (None, Some(key)), "{id}");
        }
        assert_ne!(IdKey::of(b"a\0"), IdKey::of(b"a"));
    }

    #[test]
    fn the_stable_hash_never_changes() {
        // These stand in users' files by way of migrated ids.
        assert_eq!(stable_hash(&[b""]), 2_953_197_516_032_961_587);
        assert_eq!(stable_hash(&[b"ramal", b"1"]), 743_452_196_675_907_611);
    }
}
