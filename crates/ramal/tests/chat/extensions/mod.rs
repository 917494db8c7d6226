//! Extensions before the screen: what they ask, show, bring along and change, and what becomes of one that fails.

mod asking;
mod commands;
mod fails;
mod loading;
mod moves;
mod shows;
mod trust;
mod typed;

use super::doing::write;
use super::world::World;

/// Writes an extension of the user's; `body` is what its function does with `pi`.
fn extension(world: &World, name: &str, body: &str) {
    put(world, &format!("CONFIG/ramal/extensions/{name}.ts"), body);
}

/// The same, anywhere.
fn put(world: &World, file: &str, body: &str) {
    let path = world.scratch.path(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    write(&path, &format!("export default function (pi: any) {{\n{body}\n}}\n"));
}

/// A command that tells what comes of something it waits for; `ctx` is there.
fn tells(name: &str, what: &str) -> String {
    format!(
        "pi.registerCommand({name:?}, {{ handler: async (args: string, ctx: any) => {{
            const got = await ({what});
            ctx.ui.notify('got ' + JSON.stringify(got ?? null));
        }} }});"
    )
}
