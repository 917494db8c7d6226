//! Where an extension runs.

use ramal_agent::tools::hidden_variables;
use ramal_session::json::quote;
use serde_json::json;

use super::{Answer, Args, Call, Op, nothing, said, text_or_null};
use crate::events;

pub(super) const OPS: &[(&str, Op)] = &[
    ("process", Op::Quick(process)),
    ("os", Op::Quick(os)),
    ("memory", Op::Quick(memory)),
    ("env", Op::Quick(variable)),
    ("env.names", Op::Quick(variables)),
    ("cwd", Op::Quick(cwd)),
    ("mode", Op::Quick(|call, _| Ok(quote(call.record.world.options.mode.name())))),
    ("uuid", Op::Quick(uuid)),
    ("random", Op::Quick(random)),
    ("report", Op::Quick(report)),
    ("shutdown", Op::Quick(shutdown)),
];

fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn process(_: &Call, _: &Args) -> Answer {
    let path = std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default();
    Ok(json!({ "platform": platform(), "arch": arch(), "pid": std::process::id(), "execPath": path })
        .to_string())
}

fn os(_: &Call, _: &Args) -> Answer {
    let home = std::env::home_dir().unwrap_or_default();
    let variable = |name: &str| std::env::var(name).ok();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = host.map(|host| host.trim().to_owned()).or_else(|| variable("HOSTNAME"));
    let version = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Ok(json!({
        "platform": platform(),
        "arch": arch(),
        "home": home.display().to_string(),
        "temporary": std::env::temp_dir().display().to_string(),
        "host": host.unwrap_or_else(|| "localhost".into()),
        "user": variable("USER").or_else(|| variable("USERNAME")).unwrap_or_default(),
        "shell": variable("SHELL"),
        "release": version.trim(),
        "processors": std::thread::available_parallelism().map_or(1, usize::from),
    })
    .to_string())
}

/// Bytes of the program, and of the machine where they can be told.
fn memory(call: &Call, _: &Args) -> Answer {
    let kilobytes = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|count| count * 1024)
    };
    let of_machine = |name| kilobytes("/proc/meminfo", name).unwrap_or_default();
    let rss = kilobytes("/proc/self/status", "VmRSS:").unwrap_or_default();
    Ok(json!({
        "rss": rss,
        "heapTotal": call.memory(),
        "heapUsed": rss.min(call.memory() as u64),
        "external": 0,
        "total": of_machine("MemTotal:"),
        "free": of_machine("MemAvailable:"),
    })
    .to_string())
}

/// The variables that hold keys are for nobody.
fn variable(_: &Call, args: &Args) -> Answer {
    let name = args.text(0)?;
    let is_hidden = name.is_empty() || name.contains(['=', '\0']) || hidden_variables().contains(name);
    let value = if is_hidden { None } else { std::env::var(name).ok() };
    Ok(text_or_null(value.as_deref()))
}

fn variables(_: &Call, _: &Args) -> Answer {
    let hidden = hidden_variables();
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let names: Vec<String> = names.filter(|name| !hidden.contains(name)).collect();
    serde_json::to_string(&names).map_err(said)
}

fn cwd(call: &Call, _: &Args) -> Answer {
    Ok(quote(&call.cwd().to_string_lossy()))
}

fn uuid(_: &Call, _: &Args) -> Answer {
    Ok(quote(&uuid::Uuid::new_v4().to_string()))
}

fn random(_: &Call, args: &Args) -> Answer {
    let count = args.at(0).as_u64().filter(|count| *count <= 65_536).ok_or("that is too much at once")?;
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < count {
        // All of them are made by chance but the two that say what kind of id it is.
        let all = uuid::Uuid::new_v4().into_bytes();
        bytes
            .extend(all.into_iter().enumerate().filter(|(at, _)| *at != 6 && *at != 8).map(|(_, byte)| byte));
    }
    bytes.truncate(usize::try_from(count).unwrap_or_default());
    serde_json::to_string(&bytes).map_err(said)
}

fn report(call: &Call, args: &Args) -> Answer {
    call.record.world.report(&call.record, events::main_name(args.text(0)?), args.text(1)?);
    nothing()
}

fn shutdown(call: &Call, _: &Args) -> Answer {
    call.record.world.options.program.shut_down();
    nothing()
}
