//! The files of a workspace that lead TypeScript to files outside of it.
//!
//! A path that leads out is harmless while nothing lies there: then it has no effect in any tree.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::workspace::TOOL_ENTRIES;

/// Files through which Yarn resolves modules in archives.
const PLUG_AND_PLAY: [&str; 2] = [".pnp.cjs", ".pnp.loader.mjs"];
/// The extensions of files of which TypeScript reads the content.
const EXTENSIONS: [&str; 9] = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "json"];

/// The start of a directive in a comment, up to an attribute.
const DIRECTIVE: &str = r"(?i)///\s*<(?-u:[^\n])*?\s";
/// A specifier of a module: the quoted text after a keyword and any comments, or in a comment with a
/// directive. Some other texts match as well.
static SPECIFIER: LazyLock<Regex> = LazyLock::new(|| {
    let quoted = r#"(?:"((?:\\\r?\n|[^"\n])*)|'((?:\\\r?\n|[^'\n])*)|`([^`\n]*))"#;
    let skipped = r"(?:[\s(?.\u{200b}\u{feff}]|/\*(?s-u:.)*?\*/|//(?s-u:.)*?[\n\r\u{2028}\u{2029}])*";
    let keyword = format!(r"(?-u:\b)(?:from|import|require|module){skipped}");
    constant(&format!(r"(?:{keyword}|{DIRECTIVE}(?:path|types)\s*=\s*){quoted}|@jsxImportSource\s+([^\s*]+)"))
});
/// The name in a directive that looks for types, also in folders of types.
static TYPES: LazyLock<Regex> =
    LazyLock::new(|| constant(&format!(r#"{DIRECTIVE}types\s*=\s*["']([^"'\n]*)"#)));
/// A text in JSON, and a sign if it is a key. Some other texts match as well.
static JSON_TEXT: LazyLock<Regex> = LazyLock::new(|| constant(r#""([^"\n]*)("\s*:)?|'([^'\n]*)"#));
/// The paths in `package.json`.
static PACKAGE_PATH: LazyLock<Regex> =
    LazyLock::new(|| constant(r#""(?:main|types|typings|tsconfig)"\s*:\s*"([^"\n]*)"#));
/// The paths in `package.json` for versions of TypeScript.
static TYPES_VERSIONS: LazyLock<Regex> =
    LazyLock::new(|| constant(r#""typesVersions"\s*:\s*\{(?:[^{}]*\{[^{}]*\})*"#));
/// Options with paths that are not relative to the file, with links that are not followed, or with
/// folders that are hidden.
static ODD_OPTION: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r#"(?x) "preserveSymlinks"\s*:\s*true | "jsxImportSource"\s*:\s*"[./\\] | "types"\s*:\s*\[[^\]]*\.\.
           | \$\{configDir\}[^"\n]*\.\. | "typeRoots"\s*:\s*\[[^\]]*["/\\]\.\w | \\u00"#,
    )
});
/// An escape for a dot or a slash, or at the end of a line.
static ODD_ESCAPE: LazyLock<Regex> =
    LazyLock::new(|| constant(r"(?i)\\(?:x|u00|u\{0*)2[ef]|\\0?5[67]|\\\r?\n"));

fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

/// The folders of a workspace and above it, in which TypeScript looks for modules.
pub(super) struct ScriptPlaces {
    root: PathBuf,
    /// The folders above the root.
    above: Vec<PathBuf>,
    /// The names of the folders there, and of modules without extension.
    names: BTreeSet<String>,
}

impl ScriptPlaces {
    pub(super) fn new(root: &Path) -> Self {
        let above: Vec<PathBuf> = root.ancestors().skip(1).map(Path::to_owned).collect();
        let entries = above.iter().flat_map(fs::read_dir).flatten().flatten();
        let names = entries.filter_map(|entry| {
            let (path, name) = (entry.path(), entry.file_name().to_str()?.to_owned());
            (is_script(&path) || path.is_dir()).then(|| stem(&name).to_owned())
        });
        Self { root: root.to_owned(), names: names.collect(), above }
    }

    /// Returns true if the file at `path` (relative) leads out of the workspace.
    pub(super) fn leads_elsewhere(&self, path: &Path, content: &[u8]) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // UTF-16 is read as well.
        if PLUG_AND_PLAY.contains(&&*name)
            || [[0xfe, 0xff], [0xff, 0xfe]].iter().any(|mark| content.starts_with(mark))
        {
            return true;
        }
        let folder = self.root.join(path).with_file_name("");
        match name.ends_with(".json") || name.ends_with(".jsonc") {
            true => self.settings_lead_out(&name, &folder, content),
            false => {
                texts(&TYPES, content).any(|text| self.types_lead_out(text))
                    || texts(&SPECIFIER, content).any(|text| self.module_leads_out(&folder, text))
            }
        }
    }

    /// Returns true if a specifier in a file in `folder` names a file outside.
    fn module_leads_out(&self, folder: &Path, specifier: &str) -> bool {
        let is_drive = specifier.get(1..3).is_some_and(|next| [":/", ":\\"].contains(&next));
        if ODD_ESCAPE.is_match(specifier.as_bytes())
            || specifier.starts_with("file:///")
            || is_drive && is_module(Path::new(specifier))
        {
            return true;
        }
        let names: Vec<&str> = names_of(specifier).collect();
        if names.iter().any(|name| TOOL_ENTRIES.contains(name)) {
            return true;
        }
        if specifier.starts_with(['.', '/', '\\']) {
            return self.outside(folder, specifier).is_some_and(|path| self.has(&path) || is_module(&path));
        }
        // A mapping of paths may put it anywhere; a classic resolution looks for it in all folders above.
        let is_code = specifier.contains(['=', ';', '*', '{', '}', '<', '>', ',', '"', '\'']);
        !is_code && names.contains(&"..")
            || names.first().is_some_and(|first| self.names.contains(stem(first)))
                && self.above.iter().any(|folder| is_there(&folder.join(names.join("/")), is_script))
    }

    /// Returns true if a relative name of types leads out of a folder of types.
    fn types_lead_out(&self, name: &str) -> bool {
        let folders = [self.root.clone(), self.root.join("node_modules/@types")];
        name.starts_with('.') && folders.iter().any(|folder| self.module_leads_out(folder, name))
    }

    /// Returns true if the settings in a file of JSON in `folder` name something outside.
    fn settings_lead_out(&self, name: &str, folder: &Path, content: &[u8]) -> bool {
        let has = |key: &[u8]| memchr::memmem::find(content, key).is_some();
        if name == "package.json" {
            let versions = TYPES_VERSIONS.find_iter(content);
            let mut texts = texts(&PACKAGE_PATH, content)
                .chain(versions.flat_map(|found| texts(&JSON_TEXT, found.as_bytes())));
            return texts.any(|text| self.leads_out(folder, text));
        }
        let is_configuration = name.starts_with("tsconfig") || name.starts_with("jsconfig");
        let may_be_extended = || has(b"\"extends\"") && !folder.iter().any(|name| name == "node_modules");
        if !is_configuration && !has(b"\"compilerOptions\"") && !may_be_extended() {
            return false;
        }
        // Paths may also be relative to the folder of other settings.
        let is_mapped = has(b"\"paths\"");
        ODD_OPTION.is_match(content)
            || texts(&JSON_TEXT, content).any(|text| {
                self.leads_out(folder, text)
                    || is_mapped && self.leads_out(&self.root, text)
                    || is_read_in_cache(text)
                    || has_other_extension(&folder.join(text))
            })
    }

    /// Returns true if settings in `folder` name something outside that exists.
    fn leads_out(&self, folder: &Path, text: &str) -> bool {
        // Settings of other tools name the root of a monorepo by two slashes.
        !text.starts_with("//")
            && self.outside(folder, text).is_some_and(|path| self.has(&path) || is_there(&path, |_| true))
    }

    fn has(&self, path: &Path) -> bool {
        path.starts_with(&self.root)
    }

    /// The place of the path `text`, relative to `folder`, if it leads out, be it out and back in.
    fn outside(&self, folder: &Path, text: &str) -> Option<PathBuf> {
        let is_absolute = text.starts_with(['/', '\\']);
        let mut path = if is_absolute { PathBuf::from("/") } else { folder.to_owned() };
        let mut is_outside = is_absolute;
        for name in names_of(text) {
            match name {
                ".." => _ = path.pop(),
                name if name.contains(['*', '?']) => {
                    path.push("");
                    break;
                }
                name => path.push(name),
            }
            is_outside |= !self.has(&path);
        }
        is_outside.then_some(path)
    }
}

/// Returns true if TypeScript reads the content of the file at `path`, which lies in a folder of
/// packages or build output.
pub(super) fn is_read_among_packages(path: &Path) -> bool {
    let names: Vec<&OsStr> = path.iter().collect();
    let is_of_tool =
        |pair: &[&OsStr]| pair[0] == "node_modules" && TOOL_ENTRIES.iter().any(|name| pair[1] == *name);
    is_script(path) && !names.windows(2).any(is_of_tool)
}

fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
}

/// The first captures of all matches of `pattern`, also of those that begin in another one.
fn texts<'c>(pattern: &'static Regex, content: &'c [u8]) -> impl Iterator<Item = &'c str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let found = pattern.captures_at(content, at)?;
            let text = found.iter().skip(1).flatten().next()?;
            at = text.start();
            let is_key = std::ptr::eq(pattern, &*JSON_TEXT) && found.get(2).is_some();
            if let Ok(text) = std::str::from_utf8(text.as_bytes())
                && !is_key
            {
                return Some(text);
            }
        }
    })
}

/// The names in a path, without those of the folder itself.
fn names_of(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|name| !name.is_empty() && *name != ".")
}

/// A name up to its first dot, beside one at its start.
fn stem(name: &str) -> &str {
    let end = name.bytes().skip(1).position(|byte| byte == b'.');
    end.map_or(name, |end| &name[..=end])
}

/// Returns true if there is an entry with the path, or that path and an extension, for which
/// `counts` holds.
fn is_there(path: &Path, counts: impl Fn(&Path) -> bool) -> bool {
    let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    let last = path.components().next_back();
    let (folder, name) = match (last, path.parent()) {
        (Some(Component::Normal(name)), Some(parent)) if !is_folder => (parent, name.to_string_lossy()),
        _ => (path, "".into()),
    };
    let is_alike = |entry: fs::DirEntry| {
        let found = entry.file_name().to_string_lossy().to_lowercase();
        (name.is_empty() || stem(&found) == stem(&name).to_lowercase()) && counts(&entry.path())
    };
    fs::read_dir(folder).into_iter().flatten().flatten().any(is_alike)
}

/// Returns true if a module without extension, or that of a folder, may lie at `path`.
fn is_module(path: &Path) -> bool {
    path.parent().is_some() && is_there(path, is_script)
        || ["index", "package"].iter().any(|name| is_there(&path.join(name), is_script))
}

/// Returns true if a path of settings leads to files that do not count, other than those that are
/// written.
fn is_read_in_cache(text: &str) -> bool {
    let names: Vec<&str> = names_of(text).collect();
    let is_of_tool = |pair: &[&str]| pair[0] == "node_modules" && TOOL_ENTRIES.contains(&pair[1]);
    !text.ends_with(".tsbuildinfo") && names.windows(2).any(is_of_tool)
}

/// Returns true for a file that settings may extend, and whose name is none of settings.
fn has_other_extension(path: &Path) -> bool {
    let is_known =
        |extension: &OsStr| extension == "jsonc" || EXTENSIONS.iter().any(|known| extension == *known);
    !path.extension().is_some_and(is_known) && path.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A workspace in a folder with other files.
    fn places() -> (tempfile::TempDir, ScriptPlaces) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap().join("above/root");
        fs::create_dir_all(&root).unwrap();
        for name in [
            "out.d.ts",
            "classic.ts",
            "lib/deep.ts",
            "README.md",
            "tsconfig.base.json",
            "types/a.d.ts",
            "pack/package.json",
        ] {
            let path = root.with_file_name(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(root.join("base.conf"), "{}").unwrap();
        (folder, ScriptPlaces::new(&root))
    }

    #[test]
    fn import_of_something_outside_leads_elsewhere() {
        let (_folder, places) = places();
        let leads = |path: &str, text: &str| places.leads_elsewhere(Path::new(path), text.as_bytes());
        let outside = places.root.with_file_name("out").display().to_string();
        for (path, text) in [
            ("a.ts", "import x from \"../out\""),
            ("a.ts", "import x from'../out.js'"),
            ("a.ts", "export * from \"./in/../../out\""),
            ("a.ts", "export * from \"../root/b\""),
            ("a.ts", "type X = import(`../out`).X"),
            ("a.ts", "import(/* webpackChunkName: \"x\" */ // y's\n '../out')"),
            ("a.ts", "import x = require ( \"../out\" )"),
            ("a.js", "const x = require?.('../pack')"),
            ("a.js", "/** @import {X} from '../out' */"),
            ("a.js", "/* from 'a */ require('../out')"),
            ("a.js", "require('../lib/../out')"),
            ("a.js", "// it's\rrequire('..\\/out')"),
            ("a.js", "require('\\x2e\\u002e/out')"),
            ("in/a.d.ts", "declare module '../../out' {}"),
            ("a.ts", "/// <reference path = '../out.d.ts' />"),
            ("a.ts", "/// <reference types='../types/a' />"),
            ("in/deep/a.ts", "/// <reference types='../../../types/a' />"),
            ("a.ts", "import '../\\\nout'"),
            ("a.tsx", "/** @jsxImportSource ../out */"),
            ("a.ts", &format!("import x from '{outside}'")),
            ("a.ts", "import x from '@/../x'"),
            ("a.ts", "import x from 'file:///x'"),
            ("a.ts", "import x from 'classic'"),
            ("a.ts", "import x from 'lib/deep.js'"),
            ("a.ts", "import x from './node_modules/.cache/x'"),
            ("a.ts", "import x from '.vite/x'"),
            ("a.ts", "\u{feff}import\u{feff}'../out'"),
            (".pnp.cjs", ""),
        ] {
            assert!(leads(path, text), "{path}: {text}");
        }
        assert!(places.leads_elsewhere(Path::new("a.ts"), b"\xff\xfei\0m\0"), "UTF-16");
        for (path, text) in [
            ("a.ts", "import x from '../missing'; import y from './b'; import z from 'react'"),
            ("a.ts", "import x from 'README'; import y from 'lib'; import y from 'lib/other'"),
            ("a.tsx", "import logo from '/not-here.svg'; import 'node:fs/promises'"),
            ("in/a.ts", "import x from '../out'; import y from '..'"),
            ("a.ts", "import x from '/'; import y from '../..'; const path = '/', types = '..'"),
            ("a.ts", "path.join(__dirname, '../out'); // See ../out"),
            ("a.ts", "const text = `from '\\n' to`; import '**/..'; import 'file://'; import 'C:\\x'"),
            ("node_modules/flatted/a.ts", "/// <reference types='../own/a' />; \"from \\\"\\\\\""),
        ] {
            assert!(!leads(path, text), "{path}: {text}");
        }
    }

    #[test]
    fn settings_of_something_outside_lead_elsewhere() {
        let (_folder, places) = places();
        let leads = |path: &str, text: &str| places.leads_elsewhere(Path::new(path), text.as_bytes());
        let outside = places.root.with_file_name("lib").display().to_string();
        for (path, text) in [
            ("tsconfig.json", "{\"extends\": \"../tsconfig.base.json\"}"),
            ("tsconfig.json", "{\"extends\": \"../tsconfig.base\"}"),
            ("tsconfig.json", "{\"extends\": [\"./base.conf\"]}"),
            ("tsconfig.json", "{\"include\": [\"../*\"]}"),
            ("tsconfig.json", "{\"include\": [\"..\"], // unfinished"),
            ("tsconfig.json", "{'include': ['../lib/*']}"),
            ("tsconfig.json", &format!("{{\"files\": [\"{outside}/deep.ts\"]}}")),
            ("a/tsconfig.json", "{\"references\": [{\"path\": \"../../lib\"}]}"),
            ("a/tsconfig.json", "{\"compilerOptions\": {\"paths\": {\"x\": [\"../lib/deep\"]}}}"),
            ("tsconfig.json", "{\"compilerOptions\": {\"preserveSymlinks\" : true}}"),
            ("tsconfig.json", "{\"compilerOptions\": {\"typeRoots\": [\"./.types\"]}}"),
            ("tsconfig.json", "{\"compilerOptions\": {\"types\": [\"a\", \"../../x\"]}}"),
            ("tsconfig.json", "{\"include\": [\"node_modules/.cache/x\"]}"),
            ("tsconfig.json", "{\"include\": [\"\\u002e./lib\"]}"),
            ("a/base.json", "{\"compilerOptions\": {\"baseUrl\": \"../..\"}}"),
            ("a/base.json", "{\"extends\": \"x\", \"include\": [\"${configDir}/../lib\"]}"),
            ("package.json", "{\"types\": \"../out.d.ts\"}"),
            ("package.json", "{\"typesVersions\": {\"*\": {\"*\": [\"../lib/*\"]}}}"),
        ] {
            assert!(leads(path, text), "{path}: {text}");
        }
        let base = "{\"extends\": \"../own.json\", \"include\": [\"../b/**/*\", \"${configDir}/src\"],
            // ../../out
            \"references\": [{\"path\": \"../b\"}], \"compilerOptions\": {\"paths\": {\"/*\": [\"../b/*\"],},
            \"tsBuildInfoFile\": \"../node_modules/.tmp/a.tsbuildinfo\", \"types\": [\"node\"],
            \"plugins\": [{\"name\": \"next\"}]}}";
        for (path, text) in [
            ("a/tsconfig.json", base),
            ("turbo.json", "{\"extends\": [\"//\"], \"$schema\": \"https://turbo.build/schema.json\"}"),
            (
                "package.json",
                "{\"files\": [\"/bin\"], \"dependencies\": {\"a\": \"file:../lib\"}, \"main\": \"/x.js\"}",
            ),
            ("data.json", "[\"../out.d.ts\"]"),
        ] {
            assert!(!leads(path, text), "{path}: {text}");
        }
    }

    #[test]
    fn files_that_tools_write_among_packages_are_not_read() {
        for (path, is_read) in [
            ("node_modules/a/index.d.mts", true),
            ("node_modules/.prisma/client/index.d.ts", true),
            ("node_modules/.pnpm/a@1/node_modules/a/package.json", true),
            ("node_modules/a/README.md", false),
            ("node_modules/a/bin/run", false),
            ("node_modules/.package-lock.json", false),
            ("node_modules/.vite/deps/a.js", false),
        ] {
            assert_eq!(is_read_among_packages(Path::new(path)), is_read, "{path}");
        }
    }
}
