//! What a session is called (contract, section 14, "Names").

use crate::entry::time::UNREADABLE;

/// The names that a session was given: by hand, and generated.
#[derive(Debug, Default, Clone)]
pub(crate) struct Names {
    by_user: Option<Box<str>>,
    generated: Option<Box<str>>,
    any_by_user: bool,
    any_generated: bool,
    newest: Option<i64>,
}

impl Names {
    /// Takes in the name of an entry; none clears.
    pub(super) fn add(&mut self, name: Option<Box<str>>, by_user: bool, time: i64) {
        if time != UNREADABLE {
            self.newest = self.newest.max(Some(time));
        }
        let (place, any) = if by_user {
            (&mut self.by_user, &mut self.any_by_user)
        } else {
            (&mut self.generated, &mut self.any_generated)
        };
        *place = name;
        *any = true;
    }

    /// The name to show. The header's own counts only where no entry says anything of its kind; a
    /// title slot written after every entry that names counts as the last.
    pub(crate) fn shown(&self, header: &HeaderTitle) -> Option<String> {
        let slot_is_last =
            header.slot_time.is_some_and(|time| self.newest.is_none_or(|newest| time > newest));
        let pick = |entries: &Option<Box<str>>, any: bool, by_user: bool| {
            let titled =
                header.title.as_deref().filter(|title| header.by_user == by_user && !title.is_empty());
            if header.by_user == by_user && header.title.is_some() && (slot_is_last || !any) {
                titled.map(String::from)
            } else {
                entries.as_deref().map(String::from)
            }
        };
        pick(&self.by_user, self.any_by_user, true)
            .or_else(|| pick(&self.generated, self.any_generated, false))
    }
}

/// The title that stands in the header, or in the slot before it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct HeaderTitle {
    pub(crate) title: Option<String>,
    pub(crate) by_user: bool,
    /// When a title slot was last written, in milliseconds since 1970; none for a header's own title.
    pub(crate) slot_time: Option<i64>,
}
