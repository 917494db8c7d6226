//! Questions to an open session, answered as JSON values.

use ramal_session::{At, Entry, EntryRef, SessionManager};

use super::json::{Json, Reading, object, read, text};

/// JSON text of the library as a value.
pub fn value(json: &str) -> Json {
    read(json.as_bytes(), Reading::Plain).unwrap_or_else(|| panic!("no JSON: {json:.200}"))
}

pub fn entry_value(entry: &Entry) -> Json {
    value(entry.json())
}

pub fn id(entry: EntryRef<'_>) -> String {
    entry.id().unwrap().to_string()
}

pub fn ids<'a>(entries: impl IntoIterator<Item = EntryRef<'a>>) -> Vec<String> {
    entries.into_iter().map(id).collect()
}

pub fn id_list<'a>(entries: impl IntoIterator<Item = EntryRef<'a>>) -> Json {
    Json::List(ids(entries).iter().map(|id| text(id)).collect())
}

pub fn leaf(session: &SessionManager) -> Option<String> {
    session.get_leaf_id().unwrap().map(|id| id.to_string())
}

pub fn entries(session: &SessionManager) -> Json {
    Json::List(session.get_entries().map(|entry| entry_value(&entry.read().unwrap())).collect())
}

/// The tree from the top, depth first, each entry with its depth.
pub fn walk(session: &SessionManager) -> Vec<(usize, EntryRef<'_>)> {
    let mut rows = Vec::new();
    let mut stack: Vec<_> = session.get_tree().into_iter().rev().map(|root| (0, root)).collect();
    while let Some((depth, entry)) = stack.pop() {
        rows.push((depth, entry));
        assert!(rows.len() <= session.entry_count(), "the tree has more nodes than there are entries");
        stack.extend(entry.ordered_children().into_iter().rev().map(|child| (depth + 1, child)));
    }
    rows
}

pub fn tree(session: &SessionManager) -> Json {
    let row = |(depth, entry): (usize, EntryRef<'_>)| {
        Json::List(vec![depth.into(), text(&id(entry)), entry.label().into()])
    };
    Json::List(walk(session).into_iter().map(row).collect())
}

pub fn label_times(session: &SessionManager) -> Json {
    let labelled = walk(session).into_iter().filter_map(|(_, entry)| Some((entry, entry.label()?)));
    let row = |(entry, label): (EntryRef<'_>, &str)| {
        let set_by = entry.labelled_by().unwrap().read().unwrap();
        Json::List(vec![text(&id(entry)), text(label), set_by.timestamp().as_deref().into()])
    };
    Json::List(labelled.map(row).collect())
}

pub fn labels(session: &SessionManager) -> Json {
    let row = |entry: EntryRef<'_>| Json::List(vec![text(&id(entry)), entry.label().into()]);
    Json::List(session.get_labels().map(row).collect())
}

/// Tokens and cost over all branches.
pub fn usage(session: &SessionManager) -> Json {
    let total = session.get_session_stats().unwrap().usage;
    object([
        ("input", Json::Float(total.input)),
        ("output", Json::Float(total.output)),
        ("cacheRead", Json::Float(total.cache_read)),
        ("cacheWrite", Json::Float(total.cache_write)),
        ("cost", Json::Float((total.cost * 1e6).round() / 1e6)),
    ])
}

/// The position that an operation names: an id, null for before the first entry, or none at all.
pub fn at<'a>(id: Option<&'a Option<String>>) -> At<'a> {
    match id {
        None => At::Leaf,
        Some(None) => At::BeforeFirst,
        Some(Some(id)) => At::Entry(id),
    }
}
