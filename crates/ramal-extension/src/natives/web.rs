//! Addresses.

use serde_json::json;
use url::{Url, form_urlencoded};

use super::{Answer, Args, Call, Op, said};

pub(super) const OPS: &[(&str, Op)] = &[
    ("url.parse", Op::Quick(parse)),
    ("url.set", Op::Quick(set)),
    ("url.query", Op::Quick(query)),
    ("url.write_query", Op::Quick(write_query)),
    ("url.to_path", Op::Quick(to_path)),
    ("url.from_path", Op::Quick(from_path)),
];

fn parse(_: &Call, args: &Args) -> Answer {
    let text = args.text(0)?;
    let url = match args.text_if(1) {
        Some(base) => Url::parse(base).and_then(|base| base.join(text)),
        None => Url::parse(text),
    };
    Ok(parts(&url.map_err(said)?))
}

fn parts(url: &Url) -> String {
    let after = |mark: char, text: Option<&str>| match text {
        Some(text) if !text.is_empty() => format!("{mark}{text}"),
        _ => String::new(),
    };
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let hostname = url.host_str().unwrap_or_default();
    let host = if port.is_empty() { hostname.to_owned() } else { format!("{hostname}:{port}") };
    json!({
        "href": url.as_str(),
        "origin": url.origin().ascii_serialization(),
        "protocol": format!("{}:", url.scheme()),
        "username": url.username(),
        "password": url.password().unwrap_or_default(),
        "host": host,
        "hostname": hostname,
        "port": port,
        "pathname": url.path(),
        "search": after('?', url.query()),
        "hash": after('#', url.fragment()),
    })
    .to_string()
}

/// What cannot be set stays as it is.
fn set(_: &Call, args: &Args) -> Answer {
    let mut url = Url::parse(args.text(0)?).map_err(said)?;
    let value = args.text(2)?;
    let some = (!value.is_empty()).then_some(value);
    let trimmed =
        |mark: char| some.map(|value| value.trim_start_matches(mark)).filter(|value| !value.is_empty());
    // A change that the address does not take is passed over, as everywhere.
    let _ = match args.text(1)? {
        "protocol" => url.set_scheme(value.trim_end_matches(':')),
        "username" => url.set_username(value),
        "password" => url.set_password(some),
        "hostname" => url.set_host(some).map_err(drop),
        "host" => match value.rsplit_once(':') {
            Some((host, port)) => url.set_host(Some(host)).map_err(drop).and(url.set_port(port.parse().ok())),
            None => url.set_host(some).map_err(drop),
        },
        "port" => url.set_port(value.parse().ok()),
        "pathname" => {
            url.set_path(value);
            Ok(())
        }
        "search" | "query" => {
            url.set_query(trimmed('?'));
            Ok(())
        }
        _ => {
            url.set_fragment(trimmed('#'));
            Ok(())
        }
    };
    Ok(parts(&url))
}

fn query(_: &Call, args: &Args) -> Answer {
    let pairs: Vec<_> = form_urlencoded::parse(args.text(0)?.as_bytes()).collect();
    serde_json::to_string(&pairs).map_err(said)
}

fn write_query(_: &Call, args: &Args) -> Answer {
    let pairs: Vec<(String, String)> = serde_json::from_value(args.at(0).clone()).map_err(said)?;
    let mut text = form_urlencoded::Serializer::new(String::new());
    Ok(json!(text.extend_pairs(pairs).finish()).to_string())
}

fn to_path(_: &Call, args: &Args) -> Answer {
    let url = Url::parse(args.text(0)?).map_err(said)?;
    let path = url.to_file_path().map_err(|()| format!("{url} is no file"))?;
    Ok(json!(path.to_string_lossy()).to_string())
}

fn from_path(_: &Call, args: &Args) -> Answer {
    let path = args.text(0)?;
    let url = Url::from_file_path(path).map_err(|()| format!("{path} is not absolute"))?;
    Ok(json!(url.as_str()).to_string())
}
