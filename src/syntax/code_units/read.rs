//! The units of one parsed file, the code of each as a hash, and the names in it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range as Span;

use tree_sitter::Node;

use super::super::test_conventions;
use super::quoted_paths;
use super::test_forms;
use super::{CodeUnit, CodeUnitKind, TestRole, UnitFile};
use crate::syntax::resolution::definition::{DefinitionRole, SourceDefinition};
use crate::syntax::resolution::extract::last_name;
use crate::syntax::resolution::imports::{ImportItem, SourceImport};
use crate::syntax::resolution::source::ParsedSource;
use crate::text::Position;

/// The maximum number of decorators or attributes that are kept of one unit, and the maximum size
/// of each in bytes.
const MAX_MARKS: usize = 16;
const MAX_MARK_BYTES: usize = 400;
/// The longest whole name, in bytes; longer ones are cut.
const MAX_QUALIFIED_BYTES: usize = 1_000;
/// The longest string that may be the name of a fixture, in bytes.
const MAX_QUOTED_NAME_BYTES: usize = 64;

/// Functions of Python that take the name of a member as a string.
const REFLECTING: [&str; 6] = ["getattr", "hasattr", "setattr", "delattr", "attrgetter", "methodcaller"];

/// The names in a file: each text once, with its places.
#[derive(Debug, Clone, Default)]
pub(super) struct FileWords {
    pub(super) names: Vec<String>,
    pub(super) uses: Vec<WordUse>,
    /// Strings that may be paths of files.
    pub(super) paths: quoted_paths::QuotedPaths,
}

/// One occurrence of a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordUse {
    /// Index into [`FileWords::names`].
    pub(super) name: u32,
    pub(super) at: Position,
    /// True if the word follows a dot or a similar operator.
    pub(super) is_member: bool,
    /// True if a parenthesis follows.
    pub(super) is_call: bool,
    /// True if the word is a whole string.
    pub(super) is_quoted: bool,
    /// True if the word is a string that selects a member of a value (`cart['total']`).
    pub(super) is_key: bool,
    /// True if the word is in the type of a parameter, a variable or a result.
    pub(super) is_type: bool,
}

/// A unit whose positions are still byte offsets.
struct RawUnit {
    span: Span<usize>,
    unit: CodeUnit,
}

/// The units of `source`.
pub(super) fn unit_file(source: &ParsedSource) -> UnitFile {
    let mut raw: Vec<RawUnit> =
        source.definitions.iter().filter_map(|found| raw_unit(source, found)).collect();
    raw.extend(test_forms::titled_blocks(source).into_iter().map(|block| titled_unit(source, block)));
    raw.sort_by_key(|raw| (raw.span.start, std::cmp::Reverse(raw.span.end)));
    raw.dedup_by(|later, earlier| later.span == earlier.span && later.unit.name == earlier.unit.name);
    nest(&mut raw);
    let parts: Vec<String> = source.path.display().split('/').map(str::to_owned).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    for at in 0..raw.len() {
        raw[at].unit.test = match raw[at].unit.kind {
            CodeUnitKind::Case => TestRole::Test,
            _ => {
                let around = raw[at].unit.parent.map(|parent| &raw[parent].unit);
                test_forms::role(source.grammar.key, &parts, &raw[at].unit, around)
            }
        };
        raw[at].unit.is_exact &= test_forms::is_exact(source.grammar.key, &raw[at].unit);
    }
    let (own_codes, top_code, words) = walk_leaves(source, &raw);
    let units = raw.into_iter().zip(own_codes).map(|(raw, own_code)| CodeUnit { own_code, ..raw.unit });
    let module = |import: &SourceImport| {
        let name = match &import.item {
            ImportItem::Named(name) => Some(name.clone()),
            _ => None,
        };
        (import.module.clone(), name)
    };
    let lines = |span: &Span<usize>| (source.position(span.start).line, source.position(span.end).line);
    UnitFile {
        path: source.path.clone(),
        units: units.collect(),
        top_code,
        imports: source
            .imports
            .iter()
            .map(|import| (import.local.clone(), imported(source, import)))
            .collect(),
        among_tests: test_conventions::is_test(&parts),
        is_named_as_test: test_conventions::is_named_as_test(&parts),
        import_lines: source.imports.iter().map(|import| lines(&import.span)).collect(),
        program_lines: program_spans(source).iter().map(lines).collect(),
        modules: source.imports.iter().map(module).collect(),
        whole_modules: whole_modules(source),
        words,
        key: source.grammar.key,
    }
}

/// The module and item of an import, as text. For Python's `import a.b`, which binds only `a`, the
/// whole path is included.
fn imported(source: &ParsedSource, import: &SourceImport) -> String {
    let mut text = format!("{} {:?}", import.module, import.item);
    if import.item == ImportItem::Whole && source.grammar.key == "python" {
        let rest = source.slice(&(import.selection.start..import.span.end));
        let is_path = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
        text.push(' ');
        text.push_str(rest.split(|letter| !is_path(letter)).next().unwrap_or_default());
    }
    text
}

/// The code that runs only if the file is started as a program: `if __name__ == "__main__"` and
/// similar conditions.
fn program_spans(source: &ParsedSource) -> Vec<Span<usize>> {
    let root = source.tree.root_node();
    let mut cursor = root.walk();
    let branches = root.named_children(&mut cursor).filter(|node| node.kind() == "if_statement");
    let asks = |node: &Node<'_>| {
        let condition = node.child_by_field_name("condition").map(|node| source.text_of(node));
        condition.is_some_and(|text| {
            ["__name__", "require.main", "import.meta.main"].iter().any(|word| text.contains(word))
        })
    };
    branches.filter(asks).map(|node| node.byte_range()).collect()
}

/// Returns the whole paths of the modules in Python's `import a.b`, which binds only `a`.
fn whole_modules(source: &ParsedSource) -> Vec<String> {
    let statements = source.imports.iter().filter(|import| import.item == ImportItem::Whole);
    let listed =
        statements.filter_map(|import| source.slice(&import.span).trim_start().strip_prefix("import "));
    let paths = listed.filter(|_| source.grammar.key == "python").flat_map(|list| list.split(','));
    let paths = paths.filter_map(|path| path.split_whitespace().next()).filter(|path| path.contains('.'));
    paths.map(str::to_owned).collect()
}

/// Converts a definition to a unit; `None` for definitions that are part of another unit.
fn raw_unit(source: &ParsedSource, found: &SourceDefinition) -> Option<RawUnit> {
    let kind = match found.role {
        role if role.is_callable() => CodeUnitKind::Callable,
        role if role.has_members() => CodeUnitKind::Type,
        DefinitionRole::Module => CodeUnitKind::Group,
        DefinitionRole::Variable
        | DefinitionRole::Constant
        | DefinitionRole::Field
        | DefinitionRole::Property
        | DefinitionRole::EnumMember => CodeUnitKind::Value,
        _ => return None,
    };
    if kind == CodeUnitKind::Value && (source.is_local(found) || is_in_code(source, found)) {
        return None;
    }
    let whole = source.node(&found.span)?;
    let (span, marks) = with_marks(source, whole, kind);
    let names =
        |spans: &[Span<usize>]| spans.iter().flat_map(|span| base_names(source.slice(span))).collect();
    let bases: Vec<String> = names(&found.bases);
    let is_structural = match source.grammar.key {
        "python" => kind == CodeUnitKind::Type && bases.iter().any(|base| base == "Protocol"),
        "typescript" | "tsx" => matches!(found.role, DefinitionRole::Interface | DefinitionRole::Type),
        _ => false,
    };
    Some(RawUnit {
        unit: CodeUnit {
            name: found.name.clone(),
            qualified: String::new(),
            kind,
            selection: source.position(found.selection.start),
            range: source.range(&span),
            parent: None,
            owner: found.container.clone(),
            bases,
            is_structural,
            parameters: if kind == CodeUnitKind::Callable { parameters(source, whole) } else { Vec::new() },
            marks,
            test: TestRole::None,
            is_exact: true,
            own_code: 0,
        },
        span,
    })
}

/// Returns true if a value is defined inside a function, which makes it no unit.
fn is_in_code(source: &ParsedSource, found: &SourceDefinition) -> bool {
    let mut around = found.parent;
    // A parent begins before its child, so this ends.
    while let Some(parent) = around {
        let definition = &source.definitions[parent];
        if definition.role.is_callable() {
            return true;
        }
        around = definition.parent;
    }
    false
}

/// The names of types in the head of a type: the last of each path, without arguments.
fn base_names(text: &str) -> Vec<String> {
    let inner = text.trim_matches(|letter: char| "(): ".contains(letter));
    let inner = inner.trim_start_matches("extends ").replace(" implements ", ",").replace('+', ",");
    let mut depth = 0_usize;
    let parts = inner.split(|letter: char| {
        match letter {
            '[' | '<' | '(' => depth += 1,
            ']' | '>' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.contains('=')).map(|part| last_name(part.trim()).to_owned());
    parts.filter(|name| !name.is_empty()).collect()
}

fn parameters(source: &ParsedSource, whole: Node<'_>) -> Vec<String> {
    let span = whole.byte_range();
    let first = source.definitions.partition_point(|found| found.span.start < span.start);
    let inside = source.definitions[first..].iter().take_while(|found| found.span.start < span.end);
    let own = inside.filter(|found| found.role == DefinitionRole::Parameter);
    own.map(|found| found.name.clone()).collect()
}

/// The extent of a definition with its decorators or attributes, and those as written.
fn with_marks(source: &ParsedSource, whole: Node<'_>, kind: CodeUnitKind) -> (Span<usize>, Vec<String>) {
    let mut span = whole.byte_range();
    let mut marks = Vec::new();
    if kind == CodeUnitKind::Value {
        return (span, marks);
    }
    let mut keep = |node: Node<'_>| {
        let text = source.text_of(node);
        if marks.len() < MAX_MARKS {
            marks.push(text.chars().take(MAX_MARK_BYTES).collect());
        }
    };
    if let Some(around) = whole.parent().filter(|around| around.kind() == "decorated_definition") {
        let mut cursor = around.walk();
        let children = around.children(&mut cursor).filter(|child| child.kind() == "decorator");
        children.for_each(&mut keep);
        span.start = around.start_byte();
    }
    let mut cursor = whole.walk();
    for child in whole.children(&mut cursor) {
        match child.kind() {
            "attribute_list" | "decorator" => keep(child),
            // Annotations of Java are among words such as `public`.
            "modifiers" => {
                let mut inner = child.walk();
                child
                    .children(&mut inner)
                    .filter(|mark| mark.kind().ends_with("annotation"))
                    .for_each(&mut keep);
            }
            _ => {}
        }
    }
    let mut before = whole.prev_named_sibling();
    for _ in 0..MAX_MARKS {
        let Some(mark) = before.filter(|mark| matches!(mark.kind(), "attribute_item" | "decorator")) else {
            break;
        };
        keep(mark);
        span.start = mark.start_byte();
        before = mark.prev_named_sibling();
    }
    (span, marks)
}

fn titled_unit(source: &ParsedSource, block: test_forms::TitledBlock) -> RawUnit {
    let range = source.range(&block.span);
    RawUnit {
        unit: CodeUnit {
            name: block.title,
            qualified: String::new(),
            kind: if block.is_group { CodeUnitKind::Group } else { CodeUnitKind::Case },
            selection: range.start,
            range,
            parent: None,
            owner: None,
            bases: Vec::new(),
            is_structural: false,
            parameters: Vec::new(),
            marks: Vec::new(),
            test: TestRole::None,
            is_exact: block.is_exact,
            own_code: 0,
        },
        span: block.span,
    }
}

/// Finds the parent of each unit, and its whole name.
fn nest(raw: &mut [RawUnit]) {
    let mut open: Vec<usize> = Vec::new();
    for at in 0..raw.len() {
        let (earlier, later) = raw.split_at_mut(at);
        let Some(RawUnit { span, unit }) = later.first_mut() else { break };
        while open.last().is_some_and(|last| earlier[*last].span.end <= span.start) {
            open.pop();
        }
        unit.parent = open.last().copied();
        let above = unit.parent.map(|parent| &earlier[parent].unit);
        if let Some(above) = above.filter(|above| above.kind == CodeUnitKind::Type) {
            unit.owner = Some(above.name.clone());
        } else if above.is_some() && unit.kind != CodeUnitKind::Callable {
            unit.owner = None;
        }
        let (before, joint) = match above {
            // Titles are joined with titles: a function between them gives the test no name.
            Some(_) if is_titled(unit) => {
                let around = |unit: &&CodeUnit| unit.parent.map(|parent| &earlier[parent].unit);
                let titled = std::iter::successors(above, around).find(|above| is_titled(above));
                unit.is_exact &= titled.is_none_or(|titled| titled.is_exact);
                (titled.map(|titled| titled.qualified.as_str()), " ")
            }
            Some(above) => (Some(above.qualified.as_str()), "."),
            None => (unit.owner.as_deref(), "."),
        };
        unit.qualified =
            before.map_or_else(|| unit.name.clone(), |before| format!("{before}{joint}{}", unit.name));
        if unit.qualified.len() > MAX_QUALIFIED_BYTES {
            let end = (0..=MAX_QUALIFIED_BYTES).rev().find(|end| unit.qualified.is_char_boundary(*end));
            unit.qualified.truncate(end.unwrap_or_default());
            unit.is_exact = false;
        }
        open.push(at);
    }
}

/// Returns true for a test or a group of tests with a title. A title is not a name, so the
/// selection is the unit's start.
fn is_titled(unit: &CodeUnit) -> bool {
    unit.kind == CodeUnitKind::Case || unit.kind == CodeUnitKind::Group && unit.selection == unit.range.start
}

/// The text between the leaves of the tree: some strings have no leaf.
#[derive(Default)]
struct LeafGaps {
    /// The end of the previous leaf or comment.
    last_end: usize,
    was_escape: bool,
    /// The text outside leaves since it was last taken.
    text: String,
}

impl LeafGaps {
    fn pass(&mut self, source: &ParsedSource, node: Node<'_>) {
        if node.start_byte() < self.last_end {
            return;
        }
        let gap = source.slice(&(self.last_end..node.start_byte()));
        let is_escape = node.kind() == "escape_sequence";
        // White space counts in a string alone.
        if !gap.trim().is_empty() || self.was_escape || is_escape {
            self.text.push_str(gap);
        }
        (self.last_end, self.was_escape) = (node.end_byte(), is_escape);
    }
}

/// The hash of each unit's own code, that of the rest without imports, and the names with their
/// places.
fn walk_leaves(source: &ParsedSource, raw: &[RawUnit]) -> (Vec<u64>, u64, FileWords) {
    let mut hashes: Vec<DefaultHasher> = raw.iter().map(|_| DefaultHasher::new()).collect();
    let mut top = DefaultHasher::new();
    let mut words = WordCollector::new(source);
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    let mut cursor = source.tree.walk();
    let mut depth = 0_usize;
    let mut gaps = LeafGaps::default();
    // The depth of the type that contains the present node.
    let mut in_type: Option<usize> = None;
    loop {
        let node = cursor.node();
        in_type = in_type.filter(|outer| depth > *outer);
        if in_type.is_none() && is_stated_type(cursor.field_name(), node) {
            in_type = Some(depth);
        }
        let is_comment = node.kind().contains("comment");
        if node.child_count() == 0 || is_comment {
            gaps.pass(source, node);
        }
        if node.child_count() == 0 && !is_comment && node.end_byte() > node.start_byte() {
            let byte = node.start_byte();
            while raw.get(next).is_some_and(|raw| raw.span.start <= byte) {
                open.push(next);
                next += 1;
            }
            while open.last().is_some_and(|last| raw[*last].span.end <= byte) {
                open.pop();
            }
            // If spans cross, an outer unit may end before one that was opened later.
            open.retain(|at| raw[*at].span.end > byte);
            let is_import = words.is_import(byte);
            let hash = match open.last() {
                Some(at) => Some(&mut hashes[*at]),
                None if is_import => None,
                None => Some(&mut top),
            };
            if let Some(hash) = hash {
                // The depth distinguishes a statement that moved into another block from one that
                // did not.
                (depth, std::mem::take(&mut gaps.text), source.text_of(node)).hash(hash);
            }
            gaps.text.clear();
            words.add_leaf(node, is_import, in_type.is_some());
        }
        if !is_comment && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                let own = hashes.into_iter().map(|hash| hash.finish()).collect();
                words.words.paths.extend(words.joined_paths.end());
                return (own, top.finish(), words.words);
            }
            depth -= 1;
        }
    }
}

/// Returns true if `node`, which its parent has as `field`, is the type of a parameter, a variable
/// or a result. The type in an expression that makes a value does not count.
fn is_stated_type(field: Option<&str>, node: Node<'_>) -> bool {
    let makes_value = |around: Node<'_>| {
        matches!(
            around.kind(),
            "composite_literal" | "object_creation_expression" | "array_creation_expression"
        ) || around.kind().contains("new_expression")
    };
    matches!(field, Some("type" | "return_type" | "result")) && !node.parent().is_some_and(makes_value)
}

/// Returns true if a string is the key of a member in brackets, by itself or as one of two
/// (`cart[all ? 'total' : 'count']`), as in JavaScript.
fn is_member_key(text: Node<'_>) -> bool {
    let is_choice =
        |node: &Node<'_>| matches!(node.kind(), "string" | "ternary_expression" | "parenthesized_expression");
    let around = std::iter::successors(text.parent(), Node::parent);
    let (mut last, mut key) = (text, None);
    for node in around {
        if !is_choice(&node) {
            key = node.child_by_field_name("index").filter(|_| node.kind() == "subscript_expression");
            break;
        }
        last = node;
    }
    key == Some(last)
}

struct WordCollector<'a> {
    source: &'a ParsedSource,
    imports: Vec<Span<usize>>,
    defined: std::collections::HashSet<usize>,
    known: HashMap<String, u32>,
    words: FileWords,
    joined_paths: quoted_paths::JoinedPaths,
    /// True if the leaf before was a dot or a similar operator.
    after_dot: bool,
    /// True if the leaf before was a recorded name.
    after_name: bool,
    /// True if the last call takes the name of a member as a string.
    is_reflecting: bool,
}

impl<'a> WordCollector<'a> {
    fn new(source: &'a ParsedSource) -> Self {
        let own = source.definitions.iter().filter(|found| !matches!(found.role, DefinitionRole::Import(_)));
        Self {
            source,
            imports: source.imports.iter().map(|import| import.span.clone()).collect(),
            defined: own.map(|found| found.selection.start).collect(),
            known: HashMap::new(),
            words: FileWords::default(),
            joined_paths: quoted_paths::JoinedPaths::default(),
            after_dot: false,
            after_name: false,
            is_reflecting: false,
        }
    }

    fn is_import(&self, byte: usize) -> bool {
        self.imports.iter().any(|span| span.contains(&byte))
    }

    fn add_leaf(&mut self, node: Node<'_>, is_import: bool, is_type: bool) {
        let text = self.source.text_of(node);
        let mut called = None;
        if self.after_name
            && text == "("
            && let Some(last) = self.words.uses.last_mut()
        {
            last.is_call = true;
            called = Some(self.words.names[last.name as usize].as_str());
            self.is_reflecting = called.is_some_and(|name| REFLECTING.contains(&name));
        }
        let is_name = self.source.grammar.names.contains(&node.kind());
        let is_text = matches!(node.kind(), "string_content" | "string_fragment");
        if is_text && !is_import {
            let at = self.source.position(node.start_byte());
            let own = quoted_paths::may_be_path(text).then(|| (text.to_owned(), at));
            let joined = self.joined_paths.add(text, at);
            self.words.paths.extend(own.into_iter().chain(joined));
        } else {
            self.words.paths.extend(self.joined_paths.pass(node.kind(), called));
        }
        let is_quoted = is_text
            && text.len() <= MAX_QUOTED_NAME_BYTES
            && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let is_key = is_quoted && is_member_key(node);
        let is_use = (is_name || is_quoted) && !is_import && !self.defined.contains(&node.start_byte());
        if is_use {
            let next = self.words.names.len() as u32;
            let name = *self.known.entry(text.to_owned()).or_insert(next);
            if name == next {
                self.words.names.push(text.to_owned());
            }
            self.words.uses.push(WordUse {
                name,
                at: self.source.position(node.start_byte()),
                is_member: self.after_dot || is_key || is_quoted && self.is_reflecting,
                is_call: false,
                is_quoted: is_quoted && !is_key && !self.is_reflecting,
                is_key,
                is_type,
            });
        }
        self.after_name = is_use && is_name;
        self.after_dot = matches!(text, "." | "?." | "->" | "::");
    }
}
