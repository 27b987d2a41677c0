//! Imports of a file as they are written; `modules` finds the files.

use std::ops::Range as Span;

use tree_sitter::Node;

/// A name bound by an import, or all names of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceImport {
    /// The name by which this file knows it; empty for [`ImportItem::Wildcard`].
    pub(crate) local: String,
    /// The span of that name.
    pub(crate) selection: Span<usize>,
    /// The statement.
    pub(crate) span: Span<usize>,
    /// The module as written: `a.b`, `..c`, `./d`, `crate::e`, `x.h`.
    pub(crate) module: String,
    /// The imported item of the module.
    pub(crate) item: ImportItem,
}

/// The item of a module that an import binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ImportItem {
    /// The module itself.
    Whole,
    /// The default export (JavaScript).
    Default,
    /// One name of it.
    Named(String),
    /// All its names.
    Wildcard,
    /// A file that is part of this one's module tree (Rust's `mod name;`).
    Child,
}

struct ImportReader<'a> {
    text: &'a str,
    statement: Span<usize>,
    found: Vec<SourceImport>,
}

impl<'a> ImportReader<'a> {
    fn text(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn add(&mut self, local: &str, at: Node<'_>, module: &str, item: ImportItem) {
        self.found.push(SourceImport {
            local: local.to_owned(),
            selection: at.byte_range(),
            span: self.statement.clone(),
            module: module.to_owned(),
            item,
        });
    }

    fn add_named(&mut self, at: Node<'_>, module: &str, name: &str) {
        let local = self.text(at);
        self.add(local, at, module, ImportItem::Named(name.to_owned()));
    }
}

/// Reads the imports of the statement `node` in a file of the language `key`.
pub(super) fn read(key: &str, node: Node<'_>, text: &str) -> Vec<SourceImport> {
    let mut reader = ImportReader { text, statement: node.byte_range(), found: Vec::new() };
    match key {
        "python" => python(&mut reader, node),
        "javascript" | "typescript" | "tsx" => javascript(&mut reader, node),
        "rust" => rust(&mut reader, node),
        "go" => go(&mut reader, node),
        "java" => java(&mut reader, node),
        "csharp" => csharp(&mut reader, node),
        "php" => php(&mut reader, node),
        _ => file_name(&mut reader, node),
    }
    reader.found
}

fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.named_children(&mut node.walk()).collect()
}

fn python(reader: &mut ImportReader<'_>, node: Node<'_>) {
    let module = node.child_by_field_name("module_name").map(|module| reader.text(module));
    let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut node.walk()).collect();
    for name in names {
        let (path, alias) = match name.kind() {
            "aliased_import" => match (name.child_by_field_name("name"), name.child_by_field_name("alias")) {
                (Some(path), alias) => (path, alias),
                _ => continue,
            },
            _ => (name, None),
        };
        let written = reader.text(path);
        match (module, alias) {
            (Some(module), alias) => reader.add_named(alias.unwrap_or(path), module, written),
            (None, Some(alias)) => {
                let local = reader.text(alias);
                reader.add(local, alias, written, ImportItem::Whole);
            }
            (None, None) => {
                let first = path.named_child(0).unwrap_or(path);
                let local = reader.text(first);
                reader.add(local, first, local, ImportItem::Whole);
            }
        }
    }
    if let (Some(module), true) =
        (module, children(node).iter().any(|child| child.kind() == "wildcard_import"))
    {
        reader.add("", node, module, ImportItem::Wildcard);
    }
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(|quote| matches!(quote, '"' | '\'' | '`' | '<' | '>'))
}

fn javascript(reader: &mut ImportReader<'_>, node: Node<'_>) {
    match node.kind() {
        "variable_declarator" => require_call(reader, node),
        "export_statement" => re_export(reader, node),
        _ => {
            let source = node.child_by_field_name("source").map(|source| unquoted(reader.text(source)));
            for child in children(node) {
                match (child.kind(), source) {
                    ("import_clause", Some(module)) => import_clause(reader, child, module),
                    ("import_require_clause", _) => {
                        let module =
                            child.child_by_field_name("source").map(|source| unquoted(reader.text(source)));
                        if let (Some(name), Some(module)) = (child.named_child(0), module) {
                            let local = reader.text(name);
                            reader.add(local, name, module, ImportItem::Whole);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

fn import_clause(reader: &mut ImportReader<'_>, clause: Node<'_>, module: &str) {
    for part in children(clause) {
        match part.kind() {
            "identifier" => {
                let local = reader.text(part);
                reader.add(local, part, module, ImportItem::Default);
            }
            "namespace_import" => {
                if let Some(name) = part.named_child(0) {
                    let local = reader.text(name);
                    reader.add(local, name, module, ImportItem::Whole);
                }
            }
            _ => children(part).into_iter().for_each(|specifier| import_specifier(reader, specifier, module)),
        }
    }
}

fn import_specifier(reader: &mut ImportReader<'_>, specifier: Node<'_>, module: &str) {
    let Some(name) = specifier.child_by_field_name("name") else { return };
    let local = specifier.child_by_field_name("alias").unwrap_or(name);
    match reader.text(name) {
        "default" => {
            let text = reader.text(local);
            reader.add(text, local, module, ImportItem::Default);
        }
        written => reader.add_named(local, module, written),
    }
}

fn re_export(reader: &mut ImportReader<'_>, node: Node<'_>) {
    let Some(source) = node.child_by_field_name("source") else { return };
    let module = unquoted(reader.text(source));
    let parts = children(node);
    let mut all = true;
    for part in parts {
        match part.kind() {
            "export_clause" => {
                all = false;
                children(part).into_iter().for_each(|specifier| import_specifier(reader, specifier, module));
            }
            "namespace_export" => {
                all = false;
                if let Some(name) = part.named_child(0) {
                    let local = reader.text(name);
                    reader.add(local, name, module, ImportItem::Whole);
                }
            }
            _ => {}
        }
    }
    if all {
        reader.add("", node, module, ImportItem::Wildcard);
    }
}

/// `const name = require("module")`, `const { a, b: c } = require("module")`.
fn require_call(reader: &mut ImportReader<'_>, node: Node<'_>) {
    let source = node
        .child_by_field_name("value")
        .and_then(|call| call.child_by_field_name("arguments"))
        .and_then(|arguments| arguments.named_child(0))
        .filter(|argument| argument.kind() == "string");
    let (Some(source), Some(name)) = (source, node.child_by_field_name("name")) else { return };
    let module = unquoted(reader.text(source));
    if name.kind() == "identifier" {
        let local = reader.text(name);
        reader.add(local, name, module, ImportItem::Whole);
    }
    for part in children(name) {
        match part.kind() {
            "shorthand_property_identifier_pattern" => {
                let written = reader.text(part);
                reader.add_named(part, module, written);
            }
            "pair_pattern" => {
                if let (Some(key), Some(value)) =
                    (part.child_by_field_name("key"), part.child_by_field_name("value"))
                {
                    let written = reader.text(key);
                    reader.add_named(value, module, written);
                }
            }
            _ => {}
        }
    }
}

fn rust(reader: &mut ImportReader<'_>, node: Node<'_>) {
    if let Some(argument) = node.child_by_field_name("argument") {
        use_tree(reader, argument, "", MAX_USE_TREE_DEPTH);
    } else if let Some(name) = node.child_by_field_name("name") {
        let local = node.child_by_field_name("alias").unwrap_or(name);
        let (module, text) = (reader.text(name), reader.text(local));
        reader.add(text, local, module, ImportItem::Whole);
    }
}

fn joined(prefix: &str, path: &str) -> String {
    let path: String = path.split_whitespace().collect();
    if prefix.is_empty() { path } else { format!("{prefix}::{path}") }
}

/// The maximum depth of use trees that are followed. Use trees are written by hand, and nested
/// braces need no path between them.
const MAX_USE_TREE_DEPTH: usize = 64;

/// Adds the names of the use tree `node`, below the path `prefix`; at most `depth` levels of it.
fn use_tree(reader: &mut ImportReader<'_>, node: Node<'_>, prefix: &str, depth: usize) {
    let Some(depth) = depth.checked_sub(1).filter(|_| prefix.len() <= 1_000) else { return };
    match node.kind() {
        "scoped_use_list" => {
            let path = node.child_by_field_name("path").map_or("", |path| reader.text(path));
            let prefix = if path.is_empty() { prefix.to_owned() } else { joined(prefix, path) };
            if let Some(list) = node.child_by_field_name("list") {
                children(list).into_iter().for_each(|child| use_tree(reader, child, &prefix, depth));
            }
        }
        "use_list" => children(node).into_iter().for_each(|child| use_tree(reader, child, prefix, depth)),
        "use_wildcard" => {
            let path = node.named_child(0).map_or("", |path| reader.text(path));
            let module = joined(prefix, path);
            reader.add("", node, &module, ImportItem::Wildcard);
        }
        "use_as_clause" => {
            if let (Some(path), Some(alias)) =
                (node.child_by_field_name("path"), node.child_by_field_name("alias"))
            {
                add_use(reader, &joined(prefix, reader.text(path)), alias);
            }
        }
        "self" if !prefix.is_empty() => {
            let name = prefix.rsplit("::").next().unwrap_or(prefix);
            used_as(reader, prefix, node, name);
        }
        _ => {
            let path = joined(prefix, reader.text(node));
            let at = node.child_by_field_name("name").unwrap_or(node);
            add_use(reader, &path, at);
        }
    }
}

fn add_use(reader: &mut ImportReader<'_>, path: &str, at: Node<'_>) {
    let local = reader.text(at);
    used_as(reader, path, at, local);
}

fn used_as(reader: &mut ImportReader<'_>, path: &str, at: Node<'_>, local: &str) {
    match path.rsplit_once("::") {
        Some((module, name)) => reader.add(local, at, module, ImportItem::Named(name.to_owned())),
        None => reader.add(local, at, path, ImportItem::Whole),
    }
}

fn go(reader: &mut ImportReader<'_>, node: Node<'_>) {
    let Some(path) = node.child_by_field_name("path") else { return };
    let module = unquoted(reader.text(path));
    let Some(name) = node.child_by_field_name("name") else {
        // A last element like `v2` is a version, not the package's name.
        let mut parts = module.rsplit('/');
        let last = parts.next().unwrap_or(module);
        let is_version =
            last.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        let local = if is_version { parts.next().unwrap_or(last) } else { last };
        reader.add(local, path, module, ImportItem::Whole);
        return;
    };
    match name.kind() {
        "dot" => reader.add("", name, module, ImportItem::Wildcard),
        "blank_identifier" => {}
        _ => {
            let local = reader.text(name);
            reader.add(local, name, module, ImportItem::Whole);
        }
    }
}

fn java(reader: &mut ImportReader<'_>, node: Node<'_>) {
    let parts = children(node);
    let Some(path) = parts.first() else { return };
    let written = reader.text(*path);
    if parts.iter().any(|part| part.kind() == "asterisk") {
        reader.add("", *path, written, ImportItem::Wildcard);
    } else if let Some((module, name)) = written.rsplit_once('.') {
        let at = path.child_by_field_name("name").unwrap_or(*path);
        reader.add(name, at, module, ImportItem::Named(name.to_owned()));
    }
}

fn csharp(reader: &mut ImportReader<'_>, node: Node<'_>) {
    let Some(path) = children(node).into_iter().next_back() else { return };
    let written = reader.text(path);
    match (node.child_by_field_name("name"), written.rsplit_once('.')) {
        (Some(alias), Some((module, name))) => reader.add_named(alias, module, name),
        (Some(alias), None) => reader.add_named(alias, "", written),
        (None, _) => reader.add("", path, written, ImportItem::Wildcard),
    }
}

fn php(reader: &mut ImportReader<'_>, node: Node<'_>) {
    if node.kind() != "namespace_use_clause" {
        return file_name(reader, node);
    }
    let Some(path) = node.named_child(0) else { return };
    let written = reader.text(path).trim_start_matches('\\');
    let group = node
        .parent()
        .filter(|group| group.kind() == "namespace_use_group")
        .and_then(|group| group.parent())
        .and_then(|declaration| {
            children(declaration).into_iter().find(|child| child.kind() == "namespace_name")
        })
        .map(|name| reader.text(name));
    let whole = group.map_or_else(|| written.to_owned(), |group| format!("{group}\\{written}"));
    let (module, name) = whole.rsplit_once('\\').unwrap_or(("", &whole));
    match node.child_by_field_name("alias") {
        Some(alias) => reader.add_named(alias, module, name),
        None => reader.add(name, path, module, ImportItem::Named(name.to_owned())),
    }
}

/// Reads `#include "x.h"`, `require_relative "x"`, `source x`: all names of the file that the last
/// string or word names.
fn file_name(reader: &mut ImportReader<'_>, node: Node<'_>) {
    let mut last = node;
    while let Some(child) = last.named_child(last.named_child_count().saturating_sub(1) as u32) {
        if child.kind() == "string_content" {
            last = child;
            break;
        }
        last = child;
    }
    if node.kind() == "using_declaration" {
        let written = reader.text(last);
        reader.add(written, last, "", ImportItem::Named(written.to_owned()));
        return;
    }
    let path = node.child_by_field_name("path").unwrap_or(last);
    let module = unquoted(reader.text(path));
    if !module.is_empty() {
        reader.add("", path, module, ImportItem::Wildcard);
    }
}
