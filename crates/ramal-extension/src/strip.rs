//! TypeScript as JavaScript: types are taken out, what only TypeScript has is written in JavaScript. The
//! one module that knows the compiler.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use oxc::allocator::Allocator;
use oxc::ast::ast::{Program, Statement};
use oxc::codegen::{Codegen, CodegenOptions};
use oxc::parser::Parser;
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use oxc::transformer::{TransformOptions, Transformer};
use sha2::{Digest, Sha256};

mod commonjs;

/// A module as the engine takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped {
    /// JavaScript.
    pub js: String,
    /// Where the pieces of it come from.
    pub source_map: SourceMap,
    /// The modules that it loads before it runs, in order.
    pub imports: Vec<Import>,
    /// For a module in the manner of CommonJS: what it exports by name, as far as one sees it at a glance.
    pub commonjs: Option<Vec<String>>,
}

/// A module that another one loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// What stands in the source.
    pub name: String,
    /// The line of the source, from 1.
    pub line: u32,
}

/// What is wrong in a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct SyntaxProblem {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

/// From where in the JavaScript to where in the source: lines and columns from 0, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceMap(Vec<[u32; 4]>);

impl SourceMap {
    /// Where in the source something stands that is at a line and a column of the JavaScript, all from 1.
    pub fn source(&self, line: u32, column: u32) -> (u32, u32) {
        let wanted = (line.saturating_sub(1), column.saturating_sub(1));
        let behind = self.0.partition_point(|token| (token[0], token[1]) <= wanted);
        match behind.checked_sub(1).and_then(|at| self.0.get(at)) {
            Some(token) => (token[2] + 1, token[3] + 1),
            None => (line, column),
        }
    }
}

/// Turns a module into JavaScript. What the name of the file ends in says what it is: `.ts`, `.mts` and
/// `.cts` are TypeScript, `.tsx` and `.jsx` have markup in them, everything else is JavaScript and stays as
/// it is.
///
/// The same source is turned once.
///
/// # Errors
/// If it is not well-formed.
pub fn strip(path: &Path, source: &str) -> Result<Arc<Stripped>, SyntaxProblem> {
    static KNOWN: Mutex<Option<HashMap<[u8; 32], Arc<Stripped>>>> = Mutex::new(None);
    let mut hash = Sha256::new();
    hash.update(path.as_os_str().as_encoded_bytes());
    hash.update([0]);
    hash.update(source);
    let key: [u8; 32] = hash.finalize().into();
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stripped) = known().as_ref().and_then(|known| known.get(&key)) {
        return Ok(Arc::clone(stripped));
    }
    let stripped = Arc::new(turn(path, source)?);
    known().get_or_insert_default().insert(key, Arc::clone(&stripped));
    Ok(stripped)
}

fn turn(path: &Path, source: &str) -> Result<Stripped, SyntaxProblem> {
    let problem = |offset: usize, message: String| {
        let (line, column) = position(source, offset);
        SyntaxProblem { file: path.display().to_string(), line, column, message }
    };
    let kind = SourceType::from_path(path).unwrap_or_else(|_| SourceType::mjs());
    let kind = kind.with_module(true);
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, kind).parse();
    let is_plain = !kind.is_typescript() && !kind.is_jsx();
    let is_cjs = path.extension().is_some_and(|ending| ending == "cjs");
    if is_plain && (is_cjs || !parsed.diagnostics.is_empty()) {
        // What is no module may say what a module must not.
        let script = Parser::new(&allocator, source, SourceType::cjs()).parse();
        let exports = match script.diagnostics.is_empty() {
            true => commonjs::exports(&script.program, source, is_cjs),
            false => None,
        };
        if exports.is_some() {
            return Ok(Stripped { commonjs: exports, ..plain(source, Vec::new()) });
        }
    }
    if let Some(first) = parsed.diagnostics.iter().next() {
        let offset = first.labels.first().map_or(0, |label| label.offset() as usize);
        return Err(problem(offset, first.message.to_string()));
    }
    let mut program = parsed.program;
    if is_plain {
        let commonjs = commonjs::exports(&program, source, false);
        return Ok(Stripped { commonjs, ..plain(source, imports(&program, source)) });
    }
    let semantic =
        SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true).build(&program).semantic;
    let options = TransformOptions::from_target("es2022").map_err(|error| problem(0, error.to_string()))?;
    let transformed = Transformer::new(&allocator, path, &options)
        .build_with_scoping(semantic.into_scoping(), &mut program);
    if let Some(first) = transformed.diagnostics.iter().next() {
        let offset = first.labels.first().map_or(0, |label| label.offset() as usize);
        return Err(problem(offset, first.message.to_string()));
    }
    let imports = imports(&program, source);
    let options = CodegenOptions { source_map_path: Some(path.to_path_buf()), ..CodegenOptions::default() };
    let made = Codegen::new().with_options(options).build(&program);
    let tokens = made.map.iter().flat_map(|map| map.get_tokens());
    let map = tokens
        .map(|token| [token.get_dst_line(), token.get_dst_col(), token.get_src_line(), token.get_src_col()]);
    let mut map: Vec<[u32; 4]> = map.collect();
    map.sort_unstable();
    Ok(Stripped { js: made.code, source_map: SourceMap(map), imports, commonjs: None })
}

/// JavaScript stays as it is.
fn plain(source: &str, imports: Vec<Import>) -> Stripped {
    Stripped { js: source.to_owned(), source_map: SourceMap::default(), imports, commonjs: None }
}

/// What a module loads. What only stood there for types is gone by now.
fn imports(program: &Program<'_>, source: &str) -> Vec<Import> {
    let named = program.body.iter().filter_map(|statement| match statement {
        Statement::ImportDeclaration(import) => Some(&import.source),
        Statement::ExportFromDeclaration(export) => Some(&export.source),
        Statement::ExportAllDeclaration(export) => Some(&export.source),
        _ => None,
    });
    named
        .map(|name| Import {
            name: name.value.to_string(),
            line: position(source, name.span.start as usize).0,
        })
        .collect()
}

/// Line and column of an offset, from 1.
fn position(source: &str, offset: usize) -> (u32, u32) {
    let before = source.get(..offset).unwrap_or_default();
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"import type { A } from "./types.ts";
import { B, type C } from "./b.ts";
import { D } from "only-a-type";
enum Color { Red = 1, Green }
const enum Size { Small = "s" }
namespace Inner { export const x = 1; }
abstract class P { constructor(private readonly n: number, public s = "x") {} declare y: string; }
class Q extends P { #z = 1; get z(): number { return this.#z; } }
function f(x: string): string;
function f(x: number): number;
function f(x: any) { return x satisfies unknown; }
export default async function (pi: { on: D }) {
    const q = <Q>new Q(1);
    throw new Error(`${B} ${Color.Green} ${Size.Small} ${Inner.x} ${q.z} ${f(1)!}`);
}
"#;

    #[test]
    fn types_are_taken_out() {
        let stripped = strip(Path::new("m.ts"), MODULE).unwrap();
        assert_eq!(stripped.imports, [Import { name: "./b.ts".into(), line: 2 }]);
        for gone in ["interface", "abstract", "satisfies", "only-a-type", "readonly", "enum"] {
            assert!(!stripped.js.contains(gone), "{gone}: {}", stripped.js);
        }
        let line = stripped.js.lines().position(|line| line.contains("throw new Error")).unwrap() + 1;
        let column = stripped.js.lines().nth(line - 1).unwrap().find("new Error").unwrap() + 1;
        let (line, _) = stripped.source_map.source(line as u32, column as u32);
        assert_eq!(line, 14);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let problem = strip(Path::new("dir/m.ts"), "const a = 1;\nlet b: = 2;\n").unwrap_err();
        assert_eq!((&*problem.file, problem.line), ("dir/m.ts", 2));
        assert!(problem.to_string().starts_with("dir/m.ts:2:"), "{problem}");
    }

    #[test]
    fn javascript_stays_as_it_is() {
        let source = "import a from 'b'\nexport { c } from \"d\"; export * from './e.js'\n";
        let stripped = strip(Path::new("m.js"), source).unwrap();
        assert_eq!(stripped.js, source);
        let names: Vec<_> = stripped.imports.iter().map(|import| (&*import.name, import.line)).collect();
        assert_eq!(names, [("b", 1), ("d", 2), ("./e.js", 2)]);
        assert_eq!(stripped.source_map.source(7, 3), (7, 3));
        assert_eq!(stripped.commonjs, None);
        assert!(Arc::ptr_eq(&stripped, &strip(Path::new("m.js"), source).unwrap()));
    }

    #[test]
    fn what_commonjs_exports_by_name() {
        for (name, source, names) in [
            ("a.js", "module.exports = function ms() {}", Some(&[][..])),
            (
                "a.js",
                "exports.b = exports.a = void 0; module.exports.c = 1; var x = 1",
                Some(&["a", "b", "c"]),
            ),
            ("a.js", "module.exports = { a, 'b': 1, [c]: 2, ...d, default: 3 }", Some(&["a", "b"])),
            ("a.js", "Object.defineProperty(exports, 'it', { value: 1 })", Some(&["it"])),
            ("a.js", "var a = require('b'); with (a) { module.exports = b }", Some(&[])),
            ("a.cjs", "1 + 1", Some(&[])),
            ("a.js", "1 + 1", None),
            ("a.js", "import 'x'; module.exports = 1", None),
            ("a.ts", "module.exports = 1", None),
        ] {
            let found = strip(Path::new(name), source).unwrap().commonjs.clone();
            let names = names.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
            assert_eq!(found, names, "{source}");
        }
    }
}
