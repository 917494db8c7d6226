//! Modules: which file an import means, and what is in it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::context::EvalOptions;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Exception, Function, Module, Object, Result};
use sha2::{Digest, Sha256};

use crate::builtin;
use crate::strip::{Stripped, strip};

pub(crate) mod compiled;
mod resolve;

/// What files of code end in.
const CODE: [&str; 8] = ["ts", "mts", "cts", "tsx", "js", "mjs", "cjs", "jsx"];

pub(crate) use resolve::resolve;

/// The modules that an engine has loaded, by their names.
#[derive(Clone, Default)]
pub(crate) struct Modules(Rc<Loaded>);

#[derive(Default)]
struct Loaded {
    root: RefCell<PathBuf>,
    sources: RefCell<HashMap<String, Arc<Stripped>>>,
    /// The hash of each file that was loaded.
    hashes: RefCell<BTreeMap<String, [u8; 32]>>,
    has_more: Cell<bool>,
}

impl Modules {
    /// Packages are looked for up to the folder of the extension.
    pub(crate) fn set_root(&self, entry: &Path) {
        *self.0.root.borrow_mut() = entry.parent().unwrap_or(Path::new("/")).to_owned();
    }

    /// Where in the source something stands.
    pub(crate) fn source_of(&self, module: &str, line: u32, column: u32) -> Option<(u32, u32)> {
        Some(self.0.sources.borrow().get(module)?.source_map.source(line, column))
    }

    /// The hash over everything that was loaded so far, in whatever order; none if nothing was loaded since
    /// this was asked.
    pub(crate) fn new_hash(&self) -> Option<String> {
        if !self.0.has_more.take() {
            return None;
        }
        let mut all = Sha256::new();
        for (name, hash) in self.0.hashes.borrow().iter() {
            all.update(name);
            all.update([0]);
            all.update(hash);
        }
        Some(crate::bytes::hex(&all.finalize()))
    }

    /// What a module is made of. All that it imports is looked for now, since only here its place is known.
    fn load(&self, name: &str) -> std::result::Result<String, String> {
        if is_json(name) {
            let source = self.read(name)?;
            return match ramal_session::json::is_valid(&source) {
                true => Ok(format!("export default {source};")),
                false => Err(format!("{name} is not JSON")),
            };
        }
        let stripped = self.stripped(name)?;
        if let Some(exports) = &stripped.commonjs {
            return Ok(around(name, exports));
        }
        for import in &stripped.imports {
            resolve(&self.0.root.borrow(), name, &import.name)
                .map_err(|why| format!("{name}:{}: {why}", import.line))?;
        }
        Ok(stripped.js.clone())
    }

    fn read(&self, name: &str) -> std::result::Result<String, String> {
        let read = || {
            // What is no code tells what it says to whoever imports it, if only by what is wrong with it.
            let real = Path::new(name).canonicalize()?;
            if !is_code(&real) && !real.starts_with(self.0.root.borrow().canonicalize()?) {
                let why = "it lies outside of the extension's folder; node:fs reads it when that is allowed";
                return Err(std::io::Error::other(why));
            }
            std::fs::read_to_string(name)
        };
        let source = read().map_err(|error| format!("{name} cannot be read: {error}"))?;
        self.0.hashes.borrow_mut().insert(name.to_owned(), Sha256::digest(&source).into());
        self.0.has_more.set(true);
        Ok(source)
    }

    fn stripped(&self, name: &str) -> std::result::Result<Arc<Stripped>, String> {
        let known = self.0.sources.borrow().get(name).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let stripped = strip(Path::new(name), &self.read(name)?).map_err(|problem| problem.to_string())?;
        self.0.sources.borrow_mut().insert(name.to_owned(), Arc::clone(&stripped));
        Ok(stripped)
    }

    /// What `require(name)` means in the module `base`.
    pub(crate) fn required(&self, base: &str, name: &str) -> std::result::Result<String, String> {
        resolve(&self.0.root.borrow(), base, name)
    }

    /// Whether a module is one of CommonJS.
    pub(crate) fn is_commonjs(&self, name: &str) -> bool {
        builtin::find(name).is_none()
            && !is_json(name)
            && self.stripped(name).is_ok_and(|s| s.commonjs.is_some())
    }

    /// A module of CommonJS, as the function that it is the body of.
    pub(crate) fn commonjs<'js>(&self, ctx: &Ctx<'js>, name: &str) -> Result<Function<'js>> {
        let stripped = self.stripped(name).map_err(|why| Exception::throw_message(ctx, &why))?;
        let source = match stripped.js.strip_prefix("#!") {
            Some(rest) => format!("//{rest}"),
            None => stripped.js.clone(),
        };
        // In one line with the first, so that the lines are those of the file.
        let source = format!("(function (exports, require, module, __filename, __dirname) {{ {source}\n}})");
        let mut options = EvalOptions::default();
        options.strict = false;
        options.filename = Some(name.to_owned());
        ctx.eval_with_options(source, options)
    }

    /// What a module exports, at once.
    pub(crate) fn namespace<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
        Module::import(ctx, name)?.finish()
    }
}

fn is_json(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "json")
}

/// Whether a file says that it holds nothing but code.
fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|ending| CODE.iter().any(|code| ending == *code))
}

/// A module of CommonJS as one that can be imported.
fn around(name: &str, exports: &[String]) -> String {
    let name = ramal_session::json::quote(name);
    let mut source = format!(
        "import {{ load }} from \"node:module\";\nconst all = load({name});\nexport default all;\nconst its = Object(all);\n"
    );
    for (at, export) in exports.iter().enumerate() {
        source += &format!("const e{at} = its.{export};\nexport {{ e{at} as {export} }};\n");
    }
    source
}

impl Resolver for Modules {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        resolve(&self.0.root.borrow(), base, name).map_err(|why| Exception::throw_message(ctx, &why))
    }
}

impl Loader for Modules {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        if let Some(module) = compiled::declare(ctx, name) {
            return module;
        }
        let source = Modules::load(self, name).map_err(|why| Exception::throw_message(ctx, &why))?;
        let module = Module::declare(ctx.clone(), name, source)?;
        if Path::new(name).is_absolute() {
            let path = Path::new(name);
            let meta = module.meta()?;
            let url = url::Url::from_file_path(path).map(String::from).unwrap_or_default();
            meta.set("url", url)?;
            meta.set("filename", name)?;
            meta.set("dirname", path.parent().map(|folder| folder.to_string_lossy().into_owned()))?;
            meta.set("main", false)?;
        }
        Ok(module)
    }
}
