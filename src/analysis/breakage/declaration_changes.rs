//! The declarations of a file that an edit changes, from its text before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range as Lines;
use std::time::{Duration, Instant};

use super::edited_text::EditedText;
use crate::lsp::model::Symbol;
use crate::syntax;
use crate::text::{LineMap, Position, Range, has_word, words_in};
use crate::workspace::WorkspacePath;

/// The time limit for parsing one text.
const CHANGED_TEXT_PARSE_TIMEOUT: Duration = Duration::from_millis(400);

/// Languages whose functions declare parameter and return types in their heads, or return nothing.
const TYPED_HEADS: [&str; 9] =
    ["c", "cpp", "csharp", "cuda", "go", "java", "objective-c", "objective-cpp", "rust"];
/// Languages whose files do not refer to each other by name.
const SELF_CONTAINED: [&str; 12] = [
    "css",
    "dockerfile",
    "html",
    "ini",
    "json",
    "json5",
    "jsonc",
    "markdown",
    "plaintext",
    "toml",
    "xml",
    "yaml",
];

/// A definition whose interface may have changed in an edit; only the server can tell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Declaration {
    /// Its file.
    pub path: WorkspacePath,
    /// Its name.
    pub name: String,
    /// The position of its name before the edit.
    pub before: Position,
    /// The position of its name after the edit.
    pub after: Position,
}

/// The declarations that an edit changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeclarationChanges {
    /// Names of definitions that were added, removed, or declared differently.
    pub names: BTreeSet<String>,
    /// The positions of those that existed before.
    pub at: Vec<(WorkspacePath, String, Position)>,
    /// Names that were re-exported before and are not any more. Files that import them from here
    /// also name the module.
    pub imported: BTreeSet<String>,
    /// The module names by which other files import the files.
    pub modules: BTreeSet<String>,
    /// True if the modules themselves were added or removed, which affects all importers.
    pub is_module: bool,
    /// Those of `names` that are types with another base, operator or contract. Code that only
    /// holds their values, without the name, may be affected.
    pub types: BTreeSet<String>,
    /// Types with a base type that lost a member, so that they may be incomplete.
    pub reduced_types: BTreeSet<String>,
    /// Definitions with changes only in their bodies.
    pub doubtful: BTreeSet<Declaration>,
    /// The reason that effects may appear at places without these names.
    pub wide_reason: Option<String>,
}

impl DeclarationChanges {
    /// The changes of `edits`, all in one language.
    pub(crate) fn from_edits<'a>(language: &str, edits: impl Iterator<Item = &'a EditedText>) -> Self {
        let mut changed = Self::default();
        for edit in edits {
            changed.add(language, edit);
        }
        changed
    }

    fn add(&mut self, language: &str, edit: &EditedText) {
        let old = edit.renamed_from.as_ref().unwrap_or(&edit.path);
        let moved = edit.renamed_from.is_some() || edit.before.is_none() || edit.after.is_none();
        self.modules.extend([old, &edit.path].into_iter().filter_map(module_name));
        self.is_module |= moved;
        let outline = |path: &WorkspacePath, text: &Option<String>| {
            let text = text.as_deref()?;
            syntax::symbols_in(language, path, text, Instant::now() + CHANGED_TEXT_PARSE_TIMEOUT)
        };
        let (before, after) = (outline(old, &edit.before), outline(&edit.path, &edit.after));
        let is_unread =
            |text: &Option<String>, known: &Option<Vec<Symbol>>| text.is_some() && known.is_none();
        if (is_unread(&edit.before, &before) || is_unread(&edit.after, &after))
            && !SELF_CONTAINED.contains(&language)
        {
            self.mark_wide("the declarations of a changed file cannot be parsed");
        }
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let (before, after) = (visible_symbols(&before), visible_symbols(&after));
        if moved {
            // Global declarations of a new file may conflict with those of another.
            let new = if edit.before.is_none() { &after } else { &before };
            self.names.extend(new.values().map(|known| known.symbol.name.clone()));
            return;
        }
        let (Some(was), Some(is)) = (&edit.before, &edit.after) else { return };
        let (decorated, lines) = (decorator_changed(was, is), LineMap::between(was, is));
        // The members of a removed type need no separate entry.
        let is_member_of_none =
            |key: &(String, usize), others: &BTreeMap<(String, usize), SymbolWithOwner<'_>>| {
                key.0.rsplit_once('.').is_some_and(|(owner, _)| !others.keys().any(|(name, _)| name == owner))
            };
        for (key, known) in before.iter().filter(|(key, _)| !is_member_of_none(key, &after)) {
            let symbol = known.symbol;
            let now = after.get(key);
            let is_same =
                now.is_some_and(|now| now.symbol.detail == symbol.detail) && !decorated(symbol.selection);
            match now {
                Some(now) if is_same => self.add_changed_body((language, edit), (known, now), &lines),
                _ => {
                    self.at.push((edit.path.clone(), symbol.name.clone(), symbol.selection.start));
                    self.add_changed_head(known, now.is_some());
                    if let Some(owner) = known.owner.filter(|owner| now.is_none() && inherits(owner)) {
                        self.add_reduced_type(&edit.path, owner, &after);
                    }
                }
            }
        }
        let is_new = |key: &(String, usize)| !before.contains_key(key) && !is_member_of_none(key, &before);
        for (_, new) in after.iter().filter(|(key, _)| is_new(key)) {
            self.add_changed_head(new, false);
        }
        let imports = |text: &str| {
            syntax::imported_in(language, old, text, Instant::now() + CHANGED_TEXT_PARSE_TIMEOUT)
                .unwrap_or_default()
        };
        for (name, _) in imports(was).difference(&imports(is)) {
            match name.as_str() {
                "*" => self.mark_wide("all imported names may be affected"),
                _ => drop(self.imported.insert(name.clone())),
            }
        }
    }

    /// Adds a definition that was added, removed, or has another head.
    fn add_changed_head(&mut self, known: &SymbolWithOwner<'_>, is_other: bool) {
        let symbol = known.symbol;
        self.names.insert(symbol.name.clone());
        if is_type(symbol) && is_other {
            self.types.insert(symbol.name.clone());
        }
        let Some(owner) = known.owner else { return };
        let is_field =
            symbol.detail.as_deref().is_some_and(|detail| detail.contains(':') && !detail.contains('('));
        let makes = ["__init__", "__new__", "__call__", "constructor"].contains(&symbol.name.as_str());
        if is_field || makes {
            self.names.insert(owner.name.clone());
        }
        let contract = owner
            .detail
            .as_deref()
            .is_some_and(|detail| ["Protocol", "ABC"].iter().any(|word| detail.contains(word)));
        if contract || (is_operator(&symbol.name) && !makes) {
            self.names.insert(owner.name.clone());
            self.types.insert(owner.name.clone());
        }
    }

    /// Adds a type that lost a member which one of its base types may require. Code that
    /// instantiates the type names it or a subtype.
    fn add_reduced_type(
        &mut self,
        path: &WorkspacePath,
        owner: &Symbol,
        after: &BTreeMap<(String, usize), SymbolWithOwner<'_>>,
    ) {
        if self.reduced_types.insert(owner.name.clone()) {
            self.names.insert(owner.name.clone());
            self.at.push((path.clone(), owner.name.clone(), owner.selection.start));
        }
        let is_heir = |known: &SymbolWithOwner<'_>| {
            is_type(known.symbol)
                && known.symbol.name != owner.name
                && known.symbol.detail.as_deref().is_some_and(|head| has_word(head, &owner.name))
        };
        if after.values().any(is_heir) {
            self.types.insert(owner.name.clone());
        }
    }

    /// Adds a definition whose head is unchanged.
    fn add_changed_body(
        &mut self,
        (language, edit): (&str, &EditedText),
        (known, now): (&SymbolWithOwner<'_>, &SymbolWithOwner<'_>),
        lines: &LineMap,
    ) {
        let symbol = known.symbol;
        let touches =
            |range: Range, hunk: &Lines<u32>| range.start.line <= hunk.end && hunk.start <= range.end.line;
        let is_touched = lines.old_ranges().any(|hunk| touches(symbol.range, &hunk))
            || lines.new_ranges().any(|hunk| touches(now.symbol.range, &hunk));
        if is_touched && !is_type(symbol) && !is_declared(language, symbol) {
            self.doubtful.insert(Declaration {
                path: edit.path.clone(),
                name: now.user_name().to_owned(),
                before: symbol.selection.start,
                after: now.symbol.selection.start,
            });
        }
    }

    fn mark_wide(&mut self, reason: &str) {
        self.wide_reason.get_or_insert_with(|| reason.to_owned());
    }
}

/// Returns true if the head of a type names a base type.
fn inherits(owner: &Symbol) -> bool {
    let head = owner.detail.as_deref().unwrap_or_default();
    let behind_name = head.split_once(owner.name.as_str()).map_or("", |(_, rest)| rest);
    let words = ["extends", "implements", "for"];
    let is_base = |word: &str| !["object", "struct", "interface", "enum"].contains(&word);
    words.iter().any(|word| has_word(head, word)) || words_in(behind_name).any(is_base)
}

/// Returns true for the name of a method that code calls without naming it.
fn is_operator(name: &str) -> bool {
    name == "constructor" || (name.starts_with("__") && name.ends_with("__"))
}

/// A definition, and the type around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SymbolWithOwner<'a> {
    /// The definition.
    pub symbol: &'a Symbol,
    /// The definition around it.
    pub owner: Option<&'a Symbol>,
}

impl<'a> SymbolWithOwner<'a> {
    /// The name by which code uses the definition: the type's for an operator or constructor.
    pub(crate) fn user_name(&self) -> &'a str {
        let owner = self.owner.filter(|_| is_operator(&self.symbol.name));
        &owner.unwrap_or(self.symbol).name
    }
}

/// The definitions that other code may see, by their names within the file. Definitions with the
/// same name are numbered in order.
pub(crate) fn visible_symbols(symbols: &[Symbol]) -> BTreeMap<(String, usize), SymbolWithOwner<'_>> {
    fn visit<'a>(
        symbols: &'a [Symbol],
        owner: Option<&'a Symbol>,
        prefix: &str,
        found: &mut BTreeMap<(String, usize), SymbolWithOwner<'a>>,
    ) {
        for symbol in symbols {
            let name = format!("{prefix}{}", symbol.name);
            let nth = (0..).find(|nth| !found.contains_key(&(name.clone(), *nth))).unwrap_or_default();
            // Local definitions of a function are invisible elsewhere, except fields that it
            // assigns to its object.
            let is_local = owner.is_some_and(|owner| !is_type(owner)) && symbol.kind.name() != "field";
            if !is_local {
                found.insert(
                    (name.clone(), nth),
                    SymbolWithOwner { symbol, owner: owner.filter(|owner| is_type(owner)) },
                );
            }
            visit(&symbol.children, Some(symbol), &format!("{name}."), found);
        }
    }
    let mut found = BTreeMap::new();
    visit(symbols, None, "", &mut found);
    found
}

/// Returns true for a kind of symbol with members.
pub(crate) fn is_type(symbol: &Symbol) -> bool {
    ["class", "struct", "interface", "enum", "module", "namespace"].contains(&symbol.kind.name())
}

/// Returns true if the head determines the interface, so that changes of the body do not affect
/// others.
pub(crate) fn is_declared(language: &str, symbol: &Symbol) -> bool {
    let head = symbol.detail.as_deref().unwrap_or_default();
    let is_function = ["function", "method", "constructor"].contains(&symbol.kind.name());
    let infers = || head.split(|c: char| !c.is_alphanumeric()).any(|word| word == "auto");
    head.contains("->")
        || (is_function && TYPED_HEADS.contains(&language) && !infers())
        || annotation(language, symbol).is_some()
}

/// The head of an annotated variable without its value; `None` for other definitions.
pub(crate) fn annotation<'a>(language: &str, symbol: &'a Symbol) -> Option<&'a str> {
    let head = symbol.detail.as_deref().filter(|_| language == "python" && !is_type(symbol))?;
    let (_, behind_name) = head.split_once(symbol.name.as_str())?;
    let is_annotated = behind_name.starts_with(':');
    is_annotated.then(|| head.split_once(" = ").map_or(head, |(declared, _)| declared))
}

/// The module name by which others import the file: its stem, or its folder's name for files
/// such as `index`.
pub(crate) fn module_name(path: &WorkspacePath) -> Option<String> {
    let stem = path.file_name()?.split('.').next()?.to_owned();
    match stem.as_str() {
        "__init__" | "index" | "mod" | "lib" | "main" => {
            Some(path.parent().and_then(|parent| parent.file_name().map(str::to_owned)).unwrap_or(stem))
        }
        _ => Some(stem),
    }
}

/// A predicate that returns true if a decorator or attribute above the given name was edited.
fn decorator_changed(was: &str, is: &str) -> impl Fn(Range) -> bool + use<> {
    let lines = LineMap::between(was, is);
    let marked = |text: &str, hunk: &Lines<u32>| {
        let mut lines = text.lines().skip(hunk.start as usize).take(hunk.len());
        lines.any(|line| line.trim_start().starts_with(['@', '#']) && !line.trim_start().starts_with("# "))
    };
    let hunks = lines.old_ranges().zip(lines.new_ranges());
    let ends: Vec<u32> = hunks
        .filter(|(before, after)| marked(was, before) || marked(is, after))
        .map(|(before, _)| before.end)
        .collect();
    let marks: Vec<bool> = was.lines().map(|line| line.trim_start().starts_with(['@', '#'])).collect();
    let is_mark = move |line: u32| marks.get(line as usize).copied().unwrap_or_default();
    // Other decorators may stand between.
    move |selection| {
        let name = selection.start.line;
        ends.iter().any(|end| *end <= name && (*end..name).all(&is_mark))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn changed(before: &str, after: &str) -> DeclarationChanges {
        let dir = std::env::temp_dir();
        let workspace = crate::workspace::Workspace::open(&dir).expect("a workspace");
        let edit = EditedText {
            path: workspace.path(Path::new("pkg/__init__.py")).expect("a path"),
            renamed_from: None,
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        };
        DeclarationChanges::from_edits("python", [&edit].into_iter())
    }

    fn names(changed: &DeclarationChanges) -> Vec<&str> {
        changed.names.iter().map(String::as_str).collect()
    }

    const CLASS: &str = "class Shop:\n    def sell(self, what: str) -> int:\n        return 1\n\n    def close(self):\n        return 2\n";

    #[test]
    fn changed_method_signature_reports_method_and_not_class() {
        let found = changed(CLASS, &CLASS.replace("what: str", "what: str, price: int"));
        assert_eq!((names(&found), found.wide_reason.clone()), (vec!["sell"], None));
        assert_eq!(found.at.len(), 1);
    }

    #[test]
    fn type_with_a_base_that_loses_a_method_counts_with_those_that_inherit_from_it() {
        let without =
            |text: &str| changed(text, &text.replace("    def close(self):\n        return 2\n", ""));
        assert_eq!(names(&without(CLASS)), ["close"], "it has no base that may ask for it");
        let derived = CLASS.replace("Shop:", "Shop(Closing):");
        let found = without(&derived);
        assert_eq!((names(&found), found.wide_reason.clone()), (vec!["Shop", "close"], None));
        assert_eq!(found.at.len(), 2, "both can be asked for");
        let heir = without(&format!("{derived}\n\nclass Market(Shop):\n    pass\n"));
        assert!(heir.types.contains("Shop"), "who makes a Market does not name Shop");
    }

    #[test]
    fn changed_body_of_annotated_function_reports_no_names() {
        let found = changed(CLASS, &CLASS.replace("return 1", "return 3"));
        assert!(found.names.is_empty() && found.doubtful.is_empty() && found.wide_reason.is_none());
        let found = changed(CLASS, &CLASS.replace("return 2", "return 4"));
        let doubtful: Vec<&str> = found.doubtful.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((names(&found), doubtful), (vec![], vec!["close"]));
    }

    #[test]
    fn annotated_variable_is_declared_by_its_annotation() {
        let workspace = crate::workspace::Workspace::open(&std::env::temp_dir()).expect("a workspace");
        let path = workspace.path(Path::new("a.py")).expect("a path");
        let text = "price: int = (\n    rate()\n)\nrate = price\n";
        let symbols = syntax::symbols_in("python", &path, text, Instant::now() + CHANGED_TEXT_PARSE_TIMEOUT)
            .expect("an outline");
        let annotations: Vec<_> = symbols.iter().map(|symbol| annotation("python", symbol)).collect();
        assert_eq!(annotations, [Some("price: int"), None]);
    }

    #[test]
    fn renamed_class_reports_only_old_and_new_class_name() {
        let found = changed(CLASS, &CLASS.replace("Shop", "Store"));
        assert_eq!((names(&found), found.wide_reason.clone()), (vec!["Shop", "Store"], None));
    }

    #[test]
    fn changed_base_class_or_operator_changes_the_type() {
        let found = changed(CLASS, &CLASS.replace("Shop:", "Shop(Base):"));
        assert!(found.types.contains("Shop"));
        let operator = CLASS.replace("sell(self", "__getitem__(self");
        assert!(changed(&operator, &operator.replace("what: str", "what: int")).types.contains("Shop"));
    }

    #[test]
    fn names_of_one_letter_are_names() {
        assert_eq!(names(&changed("def a() -> int: ...\n", "def b() -> int: ...\n")), ["a", "b"]);
    }

    #[test]
    fn removed_import_is_reported_as_no_longer_exported() {
        let found = changed("from a import one, two\n", "from a import two\n");
        assert_eq!(found.imported, BTreeSet::from(["one".to_owned()]));
        assert_eq!(found.modules, BTreeSet::from(["pkg".to_owned()]));
    }

    #[test]
    fn changed_decorator_reports_the_decorated_function() {
        let text = "@cached\ndef one() -> int:\n    return 1\n\n\ndef two() -> int:\n    return 2\n";
        assert_eq!(names(&changed(text, &text.replace("@cached", "@property"))), ["one"]);
    }
}
