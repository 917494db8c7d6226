//! `ramal models`: the models that can be used, and why others cannot.

use std::io::{self, Write};

use ramal_model::Catalog;
use ramal_model::catalog::{Listed, Origin};
use serde::Serialize;

use super::Json;
use crate::catalog;
use crate::cli::Globals;
use crate::failure::{self, Status};
use crate::output::json_line;
use crate::view::style::{Palette, Role};
use crate::view::width::{fit, pad, pad_start, width};
use crate::view::{clean, human};

/// List the models that can be used now, and why others cannot
///
/// From left to right: the name to give to --model; the tokens that fit into a conversation; dollars for a
/// million tokens in and out; whether it thinks and sees images. Servers on this machine are looked for on
/// the usual ports of Ollama, llama.cpp, LM Studio and vLLM.
///
/// Keys come from the usual variables, or from models.toml in the folder of settings; where there is no
/// models.toml, or no provider in it, pi's models.json is read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal models
  ramal models --all
  ramal models --json | jq -r .model")]
pub(crate) struct Args {
    /// Also each model that cannot be used
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    json: Json,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let (mut catalog, problems) = catalog::load();
    for found in catalog::found_here()? {
        catalog.add_local(found);
    }
    let shown: Vec<Listed<'_>> =
        catalog.models().filter(|listed| args.all || listed.why_not().is_none()).collect();
    if args.json.json {
        for listed in &shown {
            json_line(out, &Row::of(listed))?;
        }
    } else {
        print(&shown, globals.palette(), globals.columns(), out)?;
        if !args.all {
            print_others(&catalog, shown.is_empty(), globals.palette(), globals.columns(), out)?;
        }
    }
    out.flush()?;
    for problem in &problems {
        failure::warn(&problem.to_string());
    }
    if catalog.usable().next().is_none() {
        failure::note("No model can be used yet: set one of the keys, or start a server on this machine");
    }
    Ok(Status::Done)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    model: String,
    provider: &'a str,
    id: &'a str,
    api: &'static str,
    context_window: u64,
    max_output: u64,
    thinks: bool,
    sees: bool,
    cost: Cost,
    source: &'static str,
    is_usable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

impl<'a> Row<'a> {
    fn of(listed: &Listed<'a>) -> Row<'a> {
        let model = listed.model;
        Row {
            model: listed.name(),
            provider: &listed.provider.name,
            id: &model.id,
            api: listed.api().name(),
            context_window: model.context_window,
            max_output: model.max_output,
            thinks: model.thinks,
            sees: model.sees,
            cost: Cost {
                input: model.cost.input,
                output: model.cost.output,
                cache_read: model.cost.cache_read,
                cache_write: model.cost.cache_write,
            },
            source: match listed.provider.origin {
                Origin::Known => "known",
                Origin::User => "models.toml",
                Origin::Pi => "pi",
                Origin::Local => "local",
                _ => "other",
            },
            is_usable: listed.why_not().is_none(),
            why_not: listed.why_not(),
        }
    }
}

/// The fewest columns that a name is cut to before what stands beside it is left out.
const NAME_NEEDS: usize = 24;

fn print(shown: &[Listed<'_>], palette: Palette, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<Cells> = shown.iter().map(Cells::of).collect();
    let widest = |of: fn(&Cells) -> &str| rows.iter().map(|row| width(of(row))).max().unwrap_or(0);
    let (names, windows) = (widest(|row| &row.name), widest(|row| &row.window));
    let prices = widest(|row| row.price.as_deref().unwrap_or_default());
    for Cells { name, window, price, more } in &rows {
        let role = if price.is_some() { Role::Assistant } else { Role::Dim };
        let mut beside = format!("  {}", pad_start(window, windows));
        if let Some(price) = price {
            beside += &format!("  {}", pad(price, prices));
        }
        let room = columns.saturating_sub(width(&beside));
        if room < NAME_NEEDS.min(names) {
            writeln!(out, "{}", palette.paint(role, &fit(name, columns)))?;
            continue;
        }
        let name_columns = names.min(room);
        let left = columns.saturating_sub(name_columns + width(&beside) + 2);
        if left > 0 {
            beside += &format!("  {}", fit(more, left));
        }
        let name = palette.paint(role, &pad(&fit(name, name_columns), name_columns)).to_string();
        writeln!(out, "{name}{}", palette.paint(Role::Dim, beside.trim_end()))?;
    }
    Ok(())
}

/// What stands in the line of a model. One that cannot be used has the reason in place of its price.
struct Cells {
    name: String,
    window: String,
    price: Option<String>,
    more: String,
}

impl Cells {
    fn of(listed: &Listed<'_>) -> Cells {
        let why = listed.why_not().map(|why| clean::name(&why));
        Cells {
            name: clean::name(&listed.name()),
            window: human::short_count(listed.model.context_window),
            price: why.is_none().then(|| price(listed)),
            more: why.unwrap_or_else(|| abilities(listed)),
        }
    }
}

/// The providers whose models cannot be used, each with the reason.
fn print_others(
    catalog: &Catalog,
    is_first: bool,
    palette: Palette,
    columns: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut others: Vec<(&str, usize, String)> = Vec::new();
    for listed in catalog.models() {
        let Some(why) = listed.why_not() else { continue };
        match others.iter_mut().find(|(name, ..)| *name == listed.provider.name) {
            Some((_, count, _)) => *count += 1,
            None => others.push((&listed.provider.name, 1, why)),
        }
    }
    if !others.is_empty() && !is_first {
        writeln!(out)?;
    }
    let names = others.iter().map(|(name, ..)| width(&clean::name(name))).max().unwrap_or(0);
    for (name, count, why) in others {
        let models = if count == 1 { "1 model".to_owned() } else { format!("{count} models") };
        let line = format!("{}  {}  {}", pad(&clean::name(name), names), pad(&models, 9), clean::name(&why));
        writeln!(out, "{}", palette.paint(Role::Dim, &fit(&line, columns)))?;
    }
    Ok(())
}

fn price(listed: &Listed<'_>) -> String {
    let cost = listed.model.cost;
    match cost.input + cost.output > 0.0 {
        true => format!("${} / ${}", cost.input, cost.output),
        false => String::new(),
    }
}

fn abilities(listed: &Listed<'_>) -> String {
    let local = (listed.provider.origin == Origin::Local).then_some("found on this machine");
    let can = [listed.model.thinks.then_some("thinks"), listed.model.sees.then_some("sees"), local];
    can.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
