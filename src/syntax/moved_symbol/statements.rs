//! Import statements as text edits: redirected to another module, added, and removed.

use std::ops::Range as Span;

use tree_sitter::Node;

use crate::syntax::resolution::imports::{ImportItem, SourceImport};
use crate::syntax::resolution::source::ParsedSource;

/// The nodes of one imported name in a statement.
const ITEM_KINDS: [&str; 4] = ["dotted_name", "aliased_import", "import_specifier", "export_specifier"];
/// The statements of Python that import.
const PYTHON_IMPORTS: [&str; 3] = ["import_statement", "import_from_statement", "future_import_statement"];
/// The statements of Python before which the imports of a file end.
const PYTHON_DEFINITIONS: [&str; 3] = ["function_definition", "class_definition", "decorated_definition"];

/// A replacement of bytes of a text.
type Splice = (Span<usize>, String);

/// An import of Python that a file needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NeededImport {
    /// The module of `from MODULE import …`; `None` for `import …`.
    pub(super) module: Option<String>,
    /// The imported name, with its alias.
    pub(super) item: String,
}

impl NeededImport {
    /// The import as a statement.
    fn statement(&self) -> String {
        match &self.module {
            Some(module) => format!("from {module} import {}", self.item),
            None => format!("import {}", self.item),
        }
    }
}

/// The parts of an import statement around one imported name.
struct ImportParts<'t> {
    statement: Node<'t>,
    module: Option<Node<'t>>,
    item: Node<'t>,
    /// All imported names of the statement, in order.
    items: Vec<Node<'t>>,
    /// The node that begins with the list of names: JavaScript's clause, Python's first name.
    clause: Node<'t>,
    /// True if the statement imports nothing but the name.
    is_sole: bool,
}

fn parts<'t>(source: &'t ParsedSource, import: &SourceImport) -> Option<ImportParts<'t>> {
    let statement = source.node(&import.span)?;
    let module =
        statement.child_by_field_name("module_name").or_else(|| statement.child_by_field_name("source"));
    let holds = |node: &Node<'_>| {
        node.id() == statement.id() || matches!(node.kind(), "named_imports" | "export_clause")
    };
    let around = std::iter::successors(source.node(&import.selection), Node::parent);
    let item = around.take_while(|node| node.id() != statement.id()).find(|node| {
        ITEM_KINDS.contains(&node.kind()) && node.parent().is_some_and(|parent| holds(&parent))
    })?;
    let holder = item.parent()?;
    let is_item = |node: &Node<'_>| {
        ITEM_KINDS.contains(&node.kind()) && Some(node.id()) != module.map(|node| node.id())
    };
    let items: Vec<Node<'t>> = holder.named_children(&mut holder.walk()).filter(is_item).collect();
    let clause = match holder.kind() {
        "named_imports" => holder.parent()?,
        "export_clause" => holder,
        _ => *items.first()?,
    };
    let is_sole = items.len() == 1 && (holder.kind() != "named_imports" || clause.named_child_count() == 1);
    Some(ImportParts { statement, module, item, items, clause, is_sole })
}

/// The imported name of `import` with its alias, as written.
pub(super) fn item_text<'t>(source: &'t ParsedSource, import: &SourceImport) -> Option<&'t str> {
    parts(source, import).map(|parts| source.text_of(parts.item))
}

/// Returns true if the statement of `import` stands at the top of the file, outside conditions.
pub(super) fn is_unconditional(source: &ParsedSource, import: &SourceImport) -> bool {
    let parent = source.node(&import.span).and_then(|statement| statement.parent());
    parent.is_some_and(|parent| parent.id() == source.tree.root_node().id())
}

/// Returns the text of `source` in which the name of `import` comes from the module `spec`; `None`
/// if the form of the statement does not allow that.
pub(super) fn redirected(source: &ParsedSource, import: &SourceImport, spec: &str) -> Option<String> {
    let found = parts(source, import)?;
    let module = found.module?;
    let removal = removal(source, &found);
    let beside = same_statement(source, spec, |other| {
        other.statement.kind() == found.statement.kind()
            && other.statement.parent().map(|node| node.id())
                == found.statement.parent().map(|node| node.id())
            && other.clause.kind() == found.clause.kind()
            && (module.kind() != "string" || keywords(source, other) == keywords(source, &found))
    });
    if let (Some(beside), Some(removal)) = (beside, &removal) {
        let added = appended(source, &beside, source.text_of(found.item));
        return Some(spliced(&source.text, vec![added, removal.clone()]));
    }
    let quotes = usize::from(module.kind() == "string");
    let written = module.start_byte() + quotes..module.end_byte() - quotes;
    if found.is_sole {
        return Some(spliced(&source.text, vec![(written, spec.to_owned())]));
    }
    let item = source.text_of(found.item);
    let statement = match module.kind() {
        "string" => format!(
            "{}{{ {item} }}{}{spec}{}",
            source.slice(&(found.statement.start_byte()..found.clause.start_byte())),
            source.slice(&(found.clause.end_byte()..written.start)),
            source.slice(&(written.end..found.statement.end_byte())),
        ),
        _ => NeededImport { module: Some(spec.to_owned()), item: item.to_owned() }.statement(),
    };
    let line = whole_lines(source, found.statement)?;
    let begin = source.slice(&(line.start..found.statement.start_byte()));
    let is_open = !source.slice(&line).ends_with('\n');
    let (before, after) = if is_open { (line_end(source), "") } else { ("", line_end(source)) };
    let added = (line.end..line.end, format!("{before}{begin}{statement}{after}"));
    Some(spliced(&source.text, vec![added, removal?]))
}

/// The text of a statement before its clause: JavaScript's keywords, as in `import type`.
fn keywords<'t>(source: &'t ParsedSource, parts: &ImportParts<'_>) -> &'t str {
    source.slice(&(parts.statement.start_byte()..parts.clause.start_byte())).trim_end()
}

/// Returns the text of `source` without the name of `import`; `None` if it cannot be removed alone.
pub(super) fn removed(source: &ParsedSource, import: &SourceImport) -> Option<String> {
    let text = spliced(&source.text, vec![removal(source, &parts(source, import)?)?]);
    Some(text.trim_start_matches(['\r', '\n']).to_owned())
}

/// Returns the text of the Python file `source` with the import `needed`.
pub(super) fn added(source: &ParsedSource, needed: &NeededImport) -> String {
    let root = source.tree.root_node();
    let is_top = |other: &ImportParts<'_>| other.statement.parent().map(|node| node.id()) == Some(root.id());
    let beside = needed.module.as_ref().and_then(|module| same_statement(source, module, is_top));
    if let Some(beside) = beside {
        return spliced(&source.text, vec![appended(source, &beside, &needed.item)]);
    }
    let (line_end, statement) = (line_end(source), needed.statement());
    let mut cursor = root.walk();
    let children: Vec<Node<'_>> = root.named_children(&mut cursor).collect();
    let head = children.iter().take_while(|node| !PYTHON_DEFINITIONS.contains(&node.kind()));
    if let Some(last) = head.filter(|node| PYTHON_IMPORTS.contains(&node.kind())).last() {
        let at = end_of_line(source, last.end_byte());
        return spliced(&source.text, vec![(at..at, format!("{line_end}{statement}"))]);
    }
    let is_docstring = |node: &&Node<'_>| {
        node.kind() == "expression_statement"
            && node.named_child(0).is_some_and(|child| child.kind() == "string")
    };
    let first = children.iter().position(|node| node.kind() != "comment").unwrap_or(children.len());
    if let Some(docstring) = children.get(first).filter(is_docstring) {
        let at = end_of_line(source, docstring.end_byte());
        return spliced(&source.text, vec![(at..at, format!("{line_end}{line_end}{statement}"))]);
    }
    // Comments that an empty line separates from the code are about the file.
    let about_file = (1..=first).rev().find(|&count| {
        let end = end_of_line(source, children[count - 1].end_byte());
        source.text[end..].trim_start_matches('\r').starts_with("\n\n")
            || source.text[end..].starts_with("\r\n\r\n")
    });
    let at = about_file.map_or(0, |count| end_of_line(source, children[count - 1].end_byte()));
    let at = at.max(first_lines_end(&source.text));
    let rest = source.text[at..].trim_start_matches(['\r', '\n']);
    let before = if at == 0 { String::new() } else { line_end.repeat(2) };
    let is_definition = children.get(first).is_some_and(|node| PYTHON_DEFINITIONS.contains(&node.kind()));
    let gap = line_end.repeat(if rest.is_empty() { 1 } else { 2 + usize::from(is_definition) });
    format!("{}{before}{statement}{gap}{rest}", &source.text[..at])
}

/// The end of the lines that have a meaning only at the start of a file: `#!`, and the encoding in
/// one of the first two lines. Returns 0 if the file has none.
fn first_lines_end(text: &str) -> usize {
    let (mut end, mut start) = (0, 0);
    for (index, line) in text.split_inclusive('\n').take(2).enumerate() {
        let comment = line.trim_start_matches('\u{feff}').trim();
        let is_encoding = comment.contains("coding:") || comment.contains("coding=");
        if comment.starts_with('#') && (is_encoding || index == 0 && comment.starts_with("#!")) {
            end = start + line.trim_end_matches(['\r', '\n']).len();
        } else if !comment.is_empty() && !comment.starts_with('#') {
            break;
        }
        start += line.len();
    }
    end
}

/// Finds the first fitting statement that imports names from `module`, spelled the same.
fn same_statement<'t>(
    source: &'t ParsedSource,
    module: &str,
    fits: impl Fn(&ImportParts<'t>) -> bool,
) -> Option<ImportParts<'t>> {
    let named = source
        .imports
        .iter()
        .filter(|import| import.module == module && matches!(import.item, ImportItem::Named(_)));
    named.filter_map(|import| parts(source, import)).find(|parts| fits(parts))
}

/// The addition of `item` behind the last name of a statement, separated like the names before.
fn appended(source: &ParsedSource, to: &ImportParts<'_>, item: &str) -> Splice {
    let at = to.items.last().map_or(to.item.end_byte(), Node::end_byte);
    let separator = match to.items.as_slice() {
        [.., before, last] => source.slice(&(before.end_byte()..last.start_byte())),
        _ => ", ",
    };
    let separator = if separator.contains(['#', '/']) { ", " } else { separator };
    (at..at, format!("{separator}{item}"))
}

fn removal(source: &ParsedSource, found: &ImportParts<'_>) -> Option<Splice> {
    if found.is_sole {
        let parent = found.statement.parent()?;
        let is_block = parent.id() != source.tree.root_node().id();
        // A block must keep a statement.
        let statements =
            parent.named_children(&mut parent.walk()).filter(|node| node.kind() != "comment").count();
        let lines = whole_lines(source, found.statement).filter(|_| !is_block || statements > 1)?;
        return Some((lines, String::new()));
    }
    let at = found.items.iter().position(|node| node.id() == found.item.id())?;
    let span = match (found.items.get(at + 1), at.checked_sub(1)) {
        (Some(next), _) => found.item.start_byte()..next.start_byte(),
        (None, Some(before)) => found.items[before].end_byte()..found.item.end_byte(),
        (None, None) => return None,
    };
    // A comment between two names belongs to one of them.
    (!source.slice(&span).contains(['#', '/'])).then(|| (span, String::new()))
}

/// The lines of `node` with their line ends, if no other code is on them.
fn whole_lines(source: &ParsedSource, node: Node<'_>) -> Option<Span<usize>> {
    let start = source.text[..node.start_byte()].rfind('\n').map_or(0, |at| at + 1);
    let end = end_of_line(source, node.end_byte());
    let behind = source.text[node.end_byte()..end].trim();
    let is_alone = source.text[start..node.start_byte()].trim().is_empty()
        && (behind.is_empty() || behind.starts_with('#') || behind.starts_with("//"));
    is_alone.then(|| start..source.text[end..].find('\n').map_or(source.text.len(), |at| end + at + 1))
}

/// The end of the line that `byte` is on, without its line end.
fn end_of_line(source: &ParsedSource, byte: usize) -> usize {
    let rest = &source.text[byte..];
    let line = rest.find('\n').map_or(rest, |at| &rest[..at]);
    byte + line.trim_end_matches('\r').len()
}

fn line_end(source: &ParsedSource) -> &'static str {
    if source.text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Returns `text` with all `splices`, which do not overlap.
pub(super) fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut text = text.to_owned();
    for (span, new) in splices {
        text.replace_range(span, &new);
    }
    text
}
