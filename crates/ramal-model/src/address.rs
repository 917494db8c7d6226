//! Addresses as they may be shown: without what in them may be a key.

/// Stands for what is not shown.
const BLOT: &str = "…";

/// An address without the name and password before its host, and without the values behind its `?`.
/// What is no address at all is shown as far as it surely holds neither.
pub fn without_credentials(address: &str) -> String {
    let parts = Parts::of(address);
    let mut shown = parts.scheme.to_owned();
    if !parts.user.is_empty() {
        shown += BLOT;
        shown.push('@');
    }
    shown += parts.place;
    if let Some(query) = parts.query {
        let pieces: Vec<String> = query.split('&').map(blotted).collect();
        shown = format!("{shown}?{}", pieces.join("&"));
    }
    shown
}

/// An address with `path` behind its own, unless that ends in it already; what stands behind a `?` stays
/// behind all.
pub(crate) fn below(address: &str, path: &str) -> String {
    let (base, query) = match address.split_once('?') {
        Some((base, query)) => (base, Some(query)),
        None => (address, None),
    };
    let (path, own_query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path, None),
    };
    let base = base.trim_end_matches('/');
    let mut whole = if base.ends_with(path) { base.to_owned() } else { format!("{base}{path}") };
    let queries = [own_query, query].into_iter().flatten().filter(|query| !query.is_empty());
    for (number, query) in queries.enumerate() {
        whole.push(if number == 0 { '?' } else { '&' });
        whole += query;
    }
    whole
}

/// A member of a query: its name alone.
fn blotted(piece: &str) -> String {
    match piece.split_once('=') {
        Some((name, _)) => format!("{name}={BLOT}"),
        None if piece.is_empty() => String::new(),
        None => BLOT.to_owned(),
    }
}

/// What in an address may be a key.
pub(crate) fn credentials(address: &str) -> Vec<&str> {
    let parts = Parts::of(address);
    let user = parts.user.split(':');
    let values = parts.query.into_iter().flat_map(|query| query.split('&'));
    let values = values.map(|piece| piece.split_once('=').map_or(piece, |(_, value)| value));
    user.chain(values).filter(|text| !text.is_empty()).collect()
}

struct Parts<'a> {
    /// With `://`, if it is there.
    scheme: &'a str,
    /// Name and password.
    user: &'a str,
    /// Host, port and path.
    place: &'a str,
    /// The query, and whatever stands behind a `#`.
    query: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(address: &'a str) -> Parts<'a> {
        let (scheme, rest) = match address.find("://") {
            Some(at) => address.split_at(at + 3),
            None => ("", address),
        };
        // Where it is no address, a password may hold anything that would end it elsewhere.
        let end = match reqwest::Url::parse(address).is_ok_and(|url| url.has_host()) {
            true => rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len()),
            false => rest.len(),
        };
        let (before, behind) = rest.split_at(end);
        let user = before.rfind('@').map_or("", |at| before.get(..at).unwrap_or_default());
        let start = if user.is_empty() && !before.starts_with('@') { 0 } else { user.len() + 1 };
        let place = rest.get(start..).unwrap_or(behind);
        let (place, query) = match place.find(['?', '#']) {
            Some(at) => (place.get(..at).unwrap_or_default(), place.get(at + 1..)),
            None => (place, None),
        };
        Parts { scheme, user, place, query }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_the_question_mark_stays_there() {
        for (address, path, want) in [
            ("http://h/v1", "/messages", "http://h/v1/messages"),
            ("http://h/v1/", "/messages", "http://h/v1/messages"),
            ("http://h/v1/?api-version=2", "/responses", "http://h/v1/responses?api-version=2"),
            ("http://h/v1/chat/completions?a=1", "/chat/completions", "http://h/v1/chat/completions?a=1"),
            ("http://h?key=k", "/models/m:stream?alt=sse", "http://h/models/m:stream?alt=sse&key=k"),
            ("http://h?", "/x", "http://h/x"),
        ] {
            assert_eq!(below(address, path), want, "{address}");
        }
    }

    #[test]
    fn credentials_are_blotted_out_and_the_rest_stays() {
        for (address, shown) in [
            ("https://api.example/v1", "https://api.example/v1"),
            ("http://127.0.0.1:8080/v1/@cf/x", "http://127.0.0.1:8080/v1/@cf/x"),
            ("https://me:pass@api.example:8/v1", "https://…@api.example:8/v1"),
            ("https://token@api.example", "https://…@api.example"),
            ("https://a@b:c@api.example/v1", "https://…@api.example/v1"),
            ("https://api.example/v1?key=k&alt=sse", "https://api.example/v1?key=…&alt=…"),
            ("https://u:p@api.example/?k", "https://…@api.example/?…"),
            ("https://api.example/v1#key=k", "https://api.example/v1?key=…"),
            // No addresses, as far as a parser knows.
            ("https://me:pa/ss?w@api.example/v1", "https://…@api.example/v1"),
            ("me:pass@api.example", "…@api.example"),
            ("api.example/v1?key=k", "api.example/v1?key=…"),
            ("not an address", "not an address"),
            ("", ""),
        ] {
            assert_eq!(without_credentials(address), shown, "{address}");
        }
    }

    #[test]
    fn what_may_be_a_key_is_found() {
        assert_eq!(credentials("https://me:pass@a/v1?key=k&x&y="), ["me", "pass", "k", "x"]);
        assert_eq!(credentials("https://a/v1"), [""; 0]);
    }
}
