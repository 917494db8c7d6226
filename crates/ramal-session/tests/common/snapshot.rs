//! All that a session shows, to compare two readings of one log.

use ramal_session::{EntryRef, Irregular, Kind, Role, SessionManager, check};

/// An entry by its place, and everything that hangs on it, by their places.
#[derive(Debug, PartialEq)]
pub struct Row {
    pub offset: u64,
    pub size: u64,
    pub id: String,
    pub kind: Kind,
    pub role: Role,
    pub time: Option<i64>,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    pub ordered_children: Vec<usize>,
    pub label: Option<String>,
    pub labelled_by: Option<usize>,
    pub irregular: Option<Irregular>,
    pub shares_id: bool,
    /// What its id means when asked from outside.
    pub found: Option<usize>,
}

#[derive(Debug, PartialEq)]
pub struct Snapshot {
    pub rows: Vec<Row>,
    pub roots: Vec<usize>,
    pub damage: Vec<check::Damage>,
    pub damaged_lines: u64,
    pub repeated_lines: u64,
    pub name: Option<String>,
    pub messages: usize,
    pub branches: usize,
    pub last_activity: Option<i64>,
    pub shared_ids: usize,
}

impl Snapshot {
    pub fn of(session: &SessionManager) -> Snapshot {
        fn place(entry: EntryRef<'_>) -> usize {
            entry.position()
        }
        let row = |entry: EntryRef<'_>| {
            let id = entry.id().unwrap();
            Row {
                offset: entry.offset(),
                size: entry.size(),
                kind: entry.kind(),
                role: entry.role(),
                time: entry.time(),
                parent: entry.parent().map(place),
                children: entry.children().map(place).collect(),
                ordered_children: entry.ordered_children().into_iter().map(place).collect(),
                label: entry.label().map(String::from),
                labelled_by: entry.labelled_by().map(place),
                irregular: entry.irregular(),
                shares_id: entry.shares_id(),
                found: session.get_entry(&id).map(place),
                id: id.to_string(),
            }
        };
        Snapshot {
            rows: session.get_entries().map(row).collect(),
            roots: session.get_tree().into_iter().map(place).collect(),
            damage: session.damage().to_vec(),
            damaged_lines: session.damaged_lines(),
            repeated_lines: session.repeated_lines(),
            name: session.get_session_name(),
            messages: session.message_count(),
            branches: session.branch_count(),
            last_activity: session.last_activity(),
            shared_ids: session.shared_id_count(),
        }
    }

    /// The first thing in which another reading differs; none if nothing does.
    pub fn difference(&self, other: &Snapshot) -> Option<String> {
        for (at, (one, other)) in self.rows.iter().zip(&other.rows).enumerate() {
            if one != other {
                return Some(format!("entry {at}:\n{one:?}\n{other:?}"));
            }
        }
        (self != other).then(|| {
            let rest = |snapshot: &Snapshot| {
                let Snapshot { rows, roots, damage, damaged_lines, repeated_lines, name, .. } = snapshot;
                let Snapshot { messages, branches, last_activity, shared_ids, .. } = snapshot;
                format!(
                    "{} entries, roots {roots:?}, {damaged_lines} damaged {damage:?}, {repeated_lines} repeats, \
                     name {name:?}, {messages} messages, {branches} branches, {last_activity:?}, \
                     {shared_ids} shared ids",
                    rows.len()
                )
            };
            format!("{}\n{}", rest(self), rest(other))
        })
    }

    /// Each entry is in the tree once, and every walk ends.
    pub fn check_tree(&self) -> Result<(), String> {
        let mut seen = vec![0; self.rows.len()];
        let mut stack = self.roots.clone();
        while let Some(at) = stack.pop() {
            seen[at] += 1;
            if seen[at] > 1 {
                return Err(format!("entry {at} is in the tree twice"));
            }
            let row = &self.rows[at];
            let mut ordered = row.ordered_children.clone();
            ordered.sort_unstable();
            if ordered != row.children {
                return Err(format!("children of entry {at}: {:?} and {ordered:?}", row.children));
            }
            if row.children.iter().any(|&child| self.rows[child].parent != Some(at)) {
                return Err(format!("a child of entry {at} has another parent"));
            }
            stack.extend(&row.children);
        }
        match seen.iter().position(|&times| times == 0) {
            Some(at) => Err(format!("entry {at} is not in the tree")),
            None => Ok(()),
        }
    }
}
