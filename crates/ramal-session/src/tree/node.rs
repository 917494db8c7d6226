//! The node of an entry in the index, and the table that finds nodes by id.

use std::hash::{BuildHasher, RandomState};

use crate::entry::id::IdKey;
use crate::entry::{Kind, Role};

/// No node: the parent of a root, the child of an end.
pub(crate) const NONE: u32 = u32::MAX;

/// One entry: where its line is, what it is, and what it hangs on. 48 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// The low 48 bits are the offset of the line; the high 16 belong to its length.
    place: u64,
    pub(crate) id: IdKey,
    /// Milliseconds since 1970, or `time::UNREADABLE`.
    pub(crate) time: i64,
    len_low: u32,
    pub(crate) parent: u32,
    pub(crate) first_child: u32,
    pub(crate) last_child: u32,
    pub(crate) next_sibling: u32,
    pub(crate) kind: Kind,
    pub(crate) role: Role,
    pub(crate) flags: Flags,
}

const _: () = assert!(size_of::<Node>() == 48);

impl Node {
    pub(crate) fn new(
        offset: u64,
        len: u64,
        id: IdKey,
        kind: Kind,
        role: Role,
        time: i64,
        flags: Flags,
    ) -> Node {
        Node {
            place: (offset & 0xffff_ffff_ffff) | (len >> 32) << 48,
            id,
            time,
            len_low: len as u32,
            parent: NONE,
            first_child: NONE,
            last_child: NONE,
            next_sibling: NONE,
            kind,
            role,
            flags,
        }
    }

    /// Where the line begins in the log.
    pub(crate) fn offset(&self) -> u64 {
        self.place & 0xffff_ffff_ffff
    }

    /// Bytes of the line, without its newline.
    pub(crate) fn len(&self) -> u64 {
        (self.place >> 48) << 32 | u64::from(self.len_low)
    }
}

/// What is particular about an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Its id is not in the file: a version-1 entry, whose id follows from its content.
    pub(crate) const MIGRATED: Flags = Flags(1);
    /// It has no id where it should have one: it can be seen, not gone to.
    pub(crate) const NO_ID: Flags = Flags(2);
    /// Another entry has the same id.
    pub(crate) const SHARED_ID: Flags = Flags(4);
    /// Its parent is not in the file.
    pub(crate) const ORPHAN: Flags = Flags(8);
    /// It has no `parentId` that could be read.
    pub(crate) const NO_PARENT: Flags = Flags(16);
    /// It names itself as its parent.
    pub(crate) const OWN_PARENT: Flags = Flags(32);
    /// It was the earliest of a cycle, which was cut here.
    pub(crate) const CUT: Flags = Flags(64);

    pub(crate) fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn set(&mut self, other: Flags) {
        self.0 |= other.0;
    }

    pub(crate) fn clear(&mut self, other: Flags) {
        self.0 &= !other.0;
    }
}

/// Finds the first node with an id: open addressing, eight bytes a slot.
///
/// A slot holds the whole hash, so that growing touches no node.
#[derive(Debug)]
pub(crate) struct IdTable {
    /// The high half is the hash, the low half the number of the node plus one; zero is empty.
    slots: Vec<u64>,
    used: usize,
    seed: u64,
}

impl IdTable {
    pub(crate) fn new() -> IdTable {
        IdTable { slots: vec![0; 16], used: 0, seed: RandomState::new().hash_one(0u8) | 1 }
    }

    fn hash(&self, key: IdKey) -> u32 {
        let product = u128::from(key.bits() ^ self.seed)
            * u128::from(self.seed.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15);
        ((product >> 64) as u64 ^ product as u64) as u32
    }

    /// Has the slot of `key` brought into the cache, where the processor can be told so.
    pub(crate) fn prefetch(&self, key: IdKey) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let at = self.hash(key) as usize & (self.slots.len() - 1);
            // SAFETY: a hint about an address inside the table; it reads nothing, and every x86-64 has it.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.slots.as_ptr().wrapping_add(at).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    /// The node that was put in under `key`.
    pub(crate) fn get(&self, key: IdKey, nodes: &[Node]) -> Option<u32> {
        self.find(self.hash(key), key, nodes).ok()
    }

    /// The node under `key`, or the free slot where it would go.
    fn find(&self, hash: u32, key: IdKey, nodes: &[Node]) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            let number = slot as u32 - 1;
            if (slot >> 32) as u32 == hash && nodes[number as usize].id == key {
                return Ok(number);
            }
            at = (at + 1) & mask;
        }
    }

    /// Puts the node `number` in under `key`, unless one stands there already: then that one is answered.
    pub(crate) fn insert(&mut self, key: IdKey, number: u32, nodes: &[Node]) -> Option<u32> {
        self.reserve(1);
        let hash = self.hash(key);
        match self.find(hash, key, nodes) {
            Ok(other) => Some(other),
            Err(free) => {
                self.slots[free] = u64::from(hash) << 32 | u64::from(number + 1);
                self.used += 1;
                None
            }
        }
    }

    /// Makes room for as many more.
    pub(crate) fn reserve(&mut self, more: usize) {
        let mut size = self.slots.len();
        while (self.used + more) * 3 > size * 2 {
            size *= 2;
        }
        if size == self.slots.len() {
            return;
        }
        let slots = vec![0; size];
        super::memory::will_be_used(slots.as_ptr(), slots.len());
        let old = std::mem::replace(&mut self.slots, slots);
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            let mut at = (slot >> 32) as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = slot;
        }
    }
}
