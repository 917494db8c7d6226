//! Modules: which file an import means, and what is in it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Exception, Module, Result};
use sha2::{Digest, Sha256};

use crate::builtin;
use crate::strip::{Stripped, strip};

mod resolve;

pub(crate) use resolve::resolve;

/// The modules that an engine has loaded, by their names.
#[derive(Clone, Default)]
pub(crate) struct Modules(Rc<Loaded>);

#[derive(Default)]
struct Loaded {
    root: RefCell<PathBuf>,
    sources: RefCell<HashMap<String, Arc<Stripped>>>,
    hash: RefCell<Sha256>,
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

    /// The hash over everything that was loaded so far.
    pub(crate) fn hash(&self) -> String {
        let hash = self.0.hash.borrow().clone().finalize();
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What a module is made of. All that it imports is looked for now, since only here its place is known.
    fn load(&self, name: &str) -> std::result::Result<String, String> {
        if let Some((_, source)) = builtin::find(name) {
            return Ok(source.to_owned());
        }
        let path = Path::new(name);
        let source =
            std::fs::read_to_string(path).map_err(|error| format!("{name} cannot be read: {error}"))?;
        self.0.hash.borrow_mut().update(name);
        self.0.hash.borrow_mut().update(&source);
        if path.extension().is_some_and(|ending| ending == "json") {
            return match ramal_session::json::is_valid(&source) {
                true => Ok(format!("export default {source};")),
                false => Err(format!("{name} is not JSON")),
            };
        }
        let stripped = strip(path, &source).map_err(|problem| problem.to_string())?;
        for import in &stripped.imports {
            resolve(&self.0.root.borrow(), name, &import.name)
                .map_err(|why| format!("{name}:{}: {why}", import.line))?;
        }
        self.0.sources.borrow_mut().insert(name.to_owned(), Arc::clone(&stripped));
        Ok(stripped.js.clone())
    }
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
