//! Which sessions are seen, in which order, and what hangs on what.

use ramal_session::Guide;
use ramal_session::library::{Lineage, Query, SessionInfo};

use super::SessionOrder;
use super::find::{Fits, IN_TEXTS};
use super::store::Store;
use super::texts::Texts;

/// Levels of copies of copies that are kept apart.
const DEEPEST: usize = 24;

/// A session that is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// Its place in the store.
    pub(super) at: usize,
    /// The lines left of it.
    pub(super) guides: Vec<Guide>,
}

/// The rows, and what there is to know about all of them.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) list: Vec<Row>,
    /// Sessions that the filter leaves and whose texts could add something to what was found, by their places,
    /// the most recent first.
    pub(super) without_texts: Vec<usize>,
    /// Sessions that the filter leaves out.
    pub(super) hidden: usize,
    /// What each session of the store was copied from, if that is there, too.
    pub(super) parents: Vec<Option<usize>>,
}

impl Rows {
    pub(super) fn of(
        store: &mut Store,
        query: &Query,
        texts: &Texts,
        order: SessionOrder,
        named_only: bool,
    ) -> Rows {
        let is_left = |info: &SessionInfo| !named_only || info.name.is_some();
        let total = store.all().len();
        let mut left: Vec<usize> = (0..total).filter(|&at| store.get(at).is_some_and(is_left)).collect();
        let hidden = total - left.len();
        sort_by_time(&mut left, store.all());
        let parents = Lineage::as_written(store.all()).parents;
        if query.is_empty() {
            let list = match order {
                SessionOrder::Threaded => threads(store.all(), &parents, &left),
                SessionOrder::Recent | SessionOrder::Relevance => left.into_iter().map(Row::alone).collect(),
            };
            return Rows { list, without_texts: Vec::new(), hidden, parents };
        }
        store.look_at(query, texts.number());
        let mut found: Vec<(i64, usize)> = left
            .iter()
            .filter_map(|&at| Some((worth(store.fits(at)?, texts, store.get(at)?)?, at)))
            .collect();
        if order != SessionOrder::Recent {
            // Of those that fit alike the most recent stays first.
            found.sort_by_key(|&(worth, _)| std::cmp::Reverse(worth));
        }
        left.retain(|&at| store.fits(at).is_some_and(|fits| !fits.is_literal));
        let list = found.into_iter().map(|(_, at)| Row::alone(at)).collect();
        Rows { list, without_texts: left, hidden, parents }
    }
}

impl Row {
    fn alone(at: usize) -> Row {
        Row { at, guides: Vec::new() }
    }
}

/// What a session is worth to a search; none if something was not found in it.
fn worth(fits: &Fits, texts: &Texts, info: &SessionInfo) -> Option<i64> {
    let said = texts.of(&info.path);
    let mut sum = 0;
    for (term, worth) in fits.worth.iter().enumerate() {
        let in_texts = said.is_some_and(|said| said.terms.get(term) == Some(&true)).then_some(IN_TEXTS);
        sum += (*worth).max(in_texts)?;
    }
    Some(sum)
}

/// The most recent first.
fn sort_by_time(places: &mut [usize], infos: &[SessionInfo]) {
    places.sort_by(|&a, &b| {
        let (a, b) = (&infos[a], &infos[b]);
        b.modified.cmp(&a.modified).then_with(|| b.path.cmp(&a.path))
    });
}

/// Copies below what they were copied from, or below the nearest session that is left above that. Of the threads,
/// and of the copies of one session, the one that anything was done in last goes first.
fn threads(infos: &[SessionInfo], parents: &[Option<usize>], left: &[usize]) -> Vec<Row> {
    let mut is_left = vec![false; infos.len()];
    left.iter().for_each(|&at| is_left[at] = true);
    let above = |at: usize| {
        let mut parent = parents[at];
        while let Some(hidden) = parent.filter(|&parent| !is_left[parent]) {
            parent = parents[hidden];
        }
        parent
    };
    let mut children = vec![Vec::new(); infos.len()];
    let mut roots = Vec::new();
    for &at in left {
        match above(at) {
            Some(parent) => children[parent].push(at),
            None => roots.push(at),
        }
    }
    let latest = latest(infos, &roots, &children);
    let by_latest = |list: &mut Vec<usize>| list.sort_by_key(|&at| std::cmp::Reverse(latest[at]));
    by_latest(&mut roots);
    children.iter_mut().for_each(by_latest);
    let mut rows = Vec::with_capacity(left.len());
    let mut waiting: Vec<Row> = roots.into_iter().rev().map(Row::alone).collect();
    while let Some(row) = waiting.pop() {
        let copies = &children[row.at];
        for (number, &child) in copies.iter().enumerate().rev() {
            let mut guides: Vec<Guide> = row.guides.iter().map(|&guide| below(guide)).collect();
            guides.push(if number + 1 == copies.len() { Guide::Corner } else { Guide::Tee });
            if guides.len() > DEEPEST {
                guides.remove(0);
            }
            waiting.push(Row { at: child, guides });
        }
        rows.push(row);
    }
    rows
}

/// For each session when anything was done last in it or in a copy of it.
fn latest(infos: &[SessionInfo], roots: &[usize], children: &[Vec<usize>]) -> Vec<i64> {
    let mut latest: Vec<i64> = infos.iter().map(|info| info.modified).collect();
    let mut order = roots.to_vec();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        order.extend(&children[at]);
        next += 1;
    }
    for &at in order.iter().rev() {
        let of_copies = children[at].iter().map(|&child| latest[child]).max();
        latest[at] = latest[at].max(of_copies.unwrap_or(i64::MIN));
    }
    latest
}

/// What stands below a guide, left of what hangs on its row.
fn below(guide: Guide) -> Guide {
    match guide {
        Guide::Tee | Guide::Line => Guide::Line,
        Guide::Corner | Guide::Blank => Guide::Blank,
    }
}
