//! Conditional code, which a compiler reads only in some configurations.
//!
//! A server that compiles the project in one configuration knows nothing of the code of the others,
//! and lists no use there.

use std::ops::Range as Span;
use std::time::Instant;

use tree_sitter::Node;

use crate::config::Catalogue;
use crate::platform::machine::IS_UNIX;
use crate::syntax::resolution::candidates::identifier_at;
use crate::syntax::resolution::project::Project;
use crate::syntax::resolution::source::ParsedSource;
use crate::text::Position;
use crate::workspace::{Workspace, WorkspacePath};

/// A name in conditional code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConditionalOccurrence {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// The position in the file.
    pub(crate) position: Position,
    /// True if the condition is known not to hold on this machine; otherwise it may hold.
    pub(crate) excluded: bool,
}

/// The dependence of a place on the build configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// The place is always compiled.
    None,
    /// The place may be left out.
    Unknown,
    /// The place is left out on this machine.
    Unmet,
}

/// The maximum depth of Rust modules that are searched for a condition.
const MAX_MODULE_DEPTH: usize = 12;
/// The maximum number of nested folders of a Rust module.
const MAX_MODULE_NESTING: usize = 64;

/// Returns true if the name at `position` in `path` is in conditional code. If the file cannot be
/// read or parsed by `deadline`, returns true for languages with conditional code.
pub(crate) fn is_conditional(
    workspace: &Workspace,
    catalogue: &Catalogue,
    path: &WorkspacePath,
    position: Position,
    deadline: Instant,
) -> bool {
    let project = Project::new(workspace, catalogue, deadline);
    let Some(source) = project.source(path) else {
        return project.language(path).is_some_and(has_conditional_code);
    };
    let at = source.buffer().byte_offset(position);
    identifier_at(&source, position).is_some()
        && !source.is_comment_or_string(at)
        && SourceConditions::new(&project, &source).at(at) != Condition::None
}

/// The conditions under which the parts of a file are compiled.
pub(super) struct SourceConditions {
    of_file: Condition,
    /// The spans, in bytes, of the branches of the preprocessor, or of Rust's items with an attribute.
    branches: Vec<Span<usize>>,
}

impl SourceConditions {
    /// Looks through `source`.
    pub(super) fn new(project: &Project<'_>, source: &ParsedSource) -> Self {
        let branches = match source.grammar.key {
            "rust" => conditional_items(source),
            key if has_branches(key) => branches(&source.text),
            _ => Vec::new(),
        };
        Self { of_file: condition_of_file(project, source), branches }
    }

    /// The condition of the place at a byte.
    pub(super) fn at(&self, byte: usize) -> Condition {
        match self.of_file {
            Condition::None if self.branches.iter().any(|branch| branch.contains(&byte)) => {
                Condition::Unknown
            }
            of_file => of_file,
        }
    }
}

/// Returns true if a language can compile code in some configurations only.
pub(super) fn has_conditional_code(language: &str) -> bool {
    matches!(language, "c" | "cpp" | "go" | "rust")
}

/// Returns true if files of a language have conditional code in the middle of other code.
pub(super) fn has_branches(language: &str) -> bool {
    matches!(language, "c" | "cpp" | "rust")
}

/// The condition under which the whole of `source` is compiled.
fn condition_of_file(project: &Project<'_>, source: &ParsedSource) -> Condition {
    match source.grammar.key {
        "go" => go_condition(&source.path, &source.text),
        "rust" if is_conditional_module(project, &source.path, MAX_MODULE_DEPTH) => Condition::Unknown,
        _ => Condition::None,
    }
}

/// Returns the branches of a text. Directives are read line by line, since they may be in places
/// where no grammar expects them. The guard of a header and code for C++ alone are no branches.
fn branches(text: &str) -> Vec<Span<usize>> {
    /// An open `#if`: the start of its code, whether it counts, and whether it may be the guard of
    /// a header.
    struct Open {
        start: usize,
        counts: bool,
        may_guard: bool,
    }
    let (mut open, mut found): (Vec<Open>, Vec<Span<usize>>) = Default::default();
    let (mut offset, mut is_first, mut guard) = (0, true, None);
    for line in text.split_inclusive('\n') {
        let end = offset + line.len();
        let trimmed = line.trim();
        if let Some(directive) = trimmed.strip_prefix('#').map(str::trim_start) {
            let is_guard =
                directive.starts_with("ifndef") || directive.replace(' ', "").starts_with("if!defined");
            if directive.starts_with("if") {
                let counts = !directive.ends_with("__cplusplus");
                open.push(Open { start: end, counts, may_guard: is_guard && is_first && open.is_empty() });
            } else if directive.starts_with("el")
                && let Some(last) = open.last_mut()
            {
                last.may_guard = false;
            } else if directive.starts_with("endif")
                && let Some(ended) = open.pop()
                && ended.counts
            {
                if ended.may_guard {
                    guard = Some(ended.start..offset);
                } else {
                    found.push(ended.start..offset);
                }
            }
            is_first = false;
        } else if !trimmed.is_empty() && !["//", "/*", "*"].iter().any(|mark| trimmed.starts_with(mark)) {
            is_first = false;
            // Code behind its end: it was no guard of the whole.
            found.extend(guard.take().filter(|_| open.is_empty()));
        }
        offset = end;
    }
    found
}

/// Returns the items, fields and statements of Rust that have a `#[cfg(…)]` of their own.
fn conditional_items(source: &ParsedSource) -> Vec<Span<usize>> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    if source.text.contains("cfg(") {
        open.push(source.tree.root_node());
    }
    while let Some(node) = open.pop() {
        if node.kind() == "attribute_item" && is_condition(source.text_of(node)) {
            let mut following = std::iter::successors(node.next_named_sibling(), Node::next_named_sibling);
            let is_item =
                |node: &Node<'_>| node.kind() != "attribute_item" && !node.kind().ends_with("comment");
            found.extend(following.find(is_item).map(|item| item.byte_range()));
        }
        open.extend(node.named_children(&mut node.walk()));
    }
    found
}

/// Determines the condition of a Go file: the ending of its name, and its `//go:build` line
/// (<https://pkg.go.dev/cmd/go#hdr-Build_constraints>). Tags that the user sets are not known, and
/// count as unset.
fn go_condition(path: &WorkspacePath, text: &str) -> Condition {
    let mut lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("package "));
    let constraint = lines.find(|line| line.starts_with("//go:build ") || line.starts_with("// +build "));
    let mentions = |tag: &str| constraint.is_some_and(|line| line.contains(tag));
    let is_met = |line: &str| {
        line.strip_prefix("//go:build ").is_some_and(|expression| GoConstraint::new(expression).holds())
    };
    match constraint {
        _ if !is_go_name_included(&path.name_lossy()) => Condition::Unmet,
        // Only the server knows the Go version, whether C can be compiled, and the meaning of the
        // old form.
        Some(_) if mentions("go1.") || mentions("cgo") || mentions("+build") => Condition::Unknown,
        Some(line) if !is_met(line) => Condition::Unmet,
        _ => Condition::None,
    }
}

/// Returns true if the name of a file lets it be compiled here: `name_GOOS_GOARCH.go` is not, on
/// another machine.
fn is_go_name_included(name: &str) -> bool {
    if name.starts_with(['_', '.']) {
        return false;
    }
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.strip_suffix("_test").unwrap_or(stem);
    // The part before the first "_" is not a condition.
    let conditions: Vec<&str> = stem.split('_').skip(1).collect();
    match conditions.as_slice() {
        [.., system, architecture]
            if GO_ARCHITECTURES.contains(architecture) && GO_SYSTEMS.contains(system) =>
        {
            is_go_tag_set(system) && is_go_tag_set(architecture)
        }
        [.., last] if GO_SYSTEMS.contains(last) || GO_ARCHITECTURES.contains(last) => is_go_tag_set(last),
        _ => true,
    }
}

const GO_SYSTEMS: [&str; 18] = [
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "hurd",
    "illumos",
    "ios",
    "js",
    "linux",
    "nacl",
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "wasip1",
    "windows",
    "zos",
];
const GO_ARCHITECTURES: [&str; 25] = [
    "386",
    "amd64",
    "amd64p32",
    "arm",
    "armbe",
    "arm64",
    "arm64be",
    "loong64",
    "mips",
    "mips64",
    "mips64le",
    "mips64p32",
    "mips64p32le",
    "mipsle",
    "ppc",
    "ppc64",
    "ppc64le",
    "riscv",
    "riscv64",
    "s390",
    "s390x",
    "sparc",
    "sparc64",
    "wasm",
    "wasm32",
];

fn is_go_tag_set(tag: &str) -> bool {
    let system = if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "x86" => "386",
        "aarch64" => "arm64",
        "loongarch64" => "loong64",
        "powerpc64" if cfg!(target_endian = "little") => "ppc64le",
        "powerpc64" => "ppc64",
        "mips64" if cfg!(target_endian = "little") => "mips64le",
        "mips" if cfg!(target_endian = "little") => "mipsle",
        other => other,
    };
    let implied = match system {
        "android" => Some("linux"),
        "ios" => Some("darwin"),
        "illumos" => Some("solaris"),
        _ => None,
    };
    tag == system || tag == architecture || Some(tag) == implied || tag == "gc" || tag == "unix" && IS_UNIX
}

/// The longest constraint that is read; a longer one counts as unmet.
const MAX_CONSTRAINT_BYTES: usize = 1_000;

/// An expression of tags, read from the left.
struct GoConstraint<'a> {
    rest: &'a str,
}

impl<'a> GoConstraint<'a> {
    fn new(text: &'a str) -> Self {
        let text = text.split("//").next().unwrap_or_default();
        // The parser recurses for each parenthesis.
        Self { rest: if text.len() <= MAX_CONSTRAINT_BYTES { text } else { "" } }
    }

    /// Returns true if the constraint holds; one that cannot be parsed does not.
    fn holds(mut self) -> bool {
        let holds = self.any();
        holds && self.rest.trim().is_empty()
    }

    fn takes(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let taken = rest.strip_prefix(token);
        self.rest = taken.unwrap_or(rest);
        taken.is_some()
    }

    fn any(&mut self) -> bool {
        let mut holds = self.all();
        while self.takes("||") {
            holds |= self.all();
        }
        holds
    }

    fn all(&mut self) -> bool {
        let mut holds = self.one();
        while self.takes("&&") {
            holds &= self.one();
        }
        holds
    }

    fn one(&mut self) -> bool {
        let mut negated = false;
        while self.takes("!") {
            negated = !negated;
        }
        let holds = if self.takes("(") {
            let holds = self.any();
            self.takes(")") && holds
        } else {
            let rest = self.rest.trim_start();
            let end = rest.find(|letter: char| !(letter.is_alphanumeric() || "_.".contains(letter)));
            let (tag, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.rest = after;
            is_go_tag_set(tag)
        };
        holds != negated
    }
}

/// Returns true if the module in the file `path`, or one around it, has a `#[cfg(…)]` other than
/// that of tests.
fn is_conditional_module(project: &Project<'_>, path: &WorkspacePath, depth: usize) -> bool {
    let Some(source) = project.source(path).filter(|_| depth > 0) else { return false };
    if has_condition(&source, source.tree.root_node(), "inner_attribute_item") {
        return true;
    }
    let Some(folder) = path.parent() else { return false };
    let around = folder.ancestors().take(2).flat_map(|folder| {
        let named = ["mod.rs", "lib.rs", "main.rs"].map(|name| folder.join(name).ok());
        let beside =
            folder.parent().and_then(|above| above.join(&format!("{}.rs", folder.name_lossy())).ok());
        named.into_iter().chain([beside]).flatten()
    });
    around.filter(|file| file != path).any(|file| {
        let Some(source) = project.source(&file) else { return false };
        let Some(home) = home_of(&file) else { return false };
        let mut found = None;
        let root = source.tree.root_node();
        find_declaration(&source, root, (&home, path), false, &mut found);
        match found {
            Some(true) => true,
            Some(false) => is_conditional_module(project, &file, depth - 1),
            None => false,
        }
    })
}

/// Returns the folder of the modules that a file declares.
fn home_of(path: &WorkspacePath) -> Option<WorkspacePath> {
    let name = path.name_lossy();
    let folder = path.parent()?;
    match name.strip_suffix(".rs")? {
        "lib" | "main" | "mod" => Some(folder),
        stem => folder.join(stem).ok(),
    }
}

/// Searches below `node` for the declaration of the module that is the file `wanted`, and returns
/// whether it has a condition.
fn find_declaration(
    source: &ParsedSource,
    node: Node<'_>,
    (home, wanted): (&WorkspacePath, &WorkspacePath),
    is_conditional: bool,
    found: &mut Option<bool>,
) {
    if home.as_path().components().count() > MAX_MODULE_NESTING {
        return;
    }
    for item in node.named_children(&mut node.walk()).filter(|item| item.kind() == "mod_item") {
        let Some(name) = item.child_by_field_name("name").map(|name| source.text_of(name)) else { continue };
        let attributes: Vec<&str> =
            std::iter::successors(item.prev_named_sibling(), Node::prev_named_sibling)
                .take_while(|above| above.kind() == "attribute_item" || above.kind().ends_with("comment"))
                .filter(|above| above.kind() == "attribute_item")
                .map(|above| source.text_of(above))
                .collect();
        let is_conditional = is_conditional || attributes.iter().any(|attribute| is_condition(attribute));
        if let Some(body) = item.child_by_field_name("body") {
            if let Ok(inside) = home.join(name) {
                find_declaration(source, body, (&inside, wanted), is_conditional, found);
            }
            continue;
        }
        let given = attributes
            .iter()
            .find_map(|attribute| attribute.split_once("path").and_then(|(_, rest)| rest.split('"').nth(1)));
        let folder = source.path.parent();
        let files = match given {
            Some(given) => vec![folder.and_then(|folder| folder.join(given).ok())],
            None => vec![
                home.join(&format!("{name}.rs")).ok(),
                home.join(name).and_then(|folder| folder.join("mod.rs")).ok(),
            ],
        };
        if files.iter().flatten().any(|file| file == wanted) {
            // One of two declarations may hold.
            *found = Some(found.unwrap_or(false) || is_conditional);
        }
    }
}

/// Returns true if a child of `node` is an attribute of this kind and a condition.
fn has_condition(source: &ParsedSource, node: Node<'_>, kind: &str) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| child.kind() == kind && is_condition(source.text_of(child)))
}

/// Returns true if an attribute limits its item to some configurations. The condition of tests does
/// not count.
fn is_condition(attribute: &str) -> bool {
    let inside: String = attribute.chars().filter(|letter| !letter.is_whitespace()).collect();
    let inside = inside.trim_start_matches(['#', '!', '[']);
    inside.starts_with("cfg(") && !inside.starts_with("cfg(test)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(name: &str, text: &str) -> Condition {
        go_condition(&WorkspacePath::root().join(name).unwrap(), text)
    }

    #[test]
    fn go_files_of_other_systems_and_tags_are_excluded() {
        let system = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
        let other = if system == "windows" { "plan9" } else { "windows" };
        for name in ["use_OTHER", "use_OTHER_test", "use_OTHER_amd64", "use_OTHER.pb"] {
            let name = format!("{}.go", name.replace("OTHER", other));
            assert_eq!(go(&name, "package x\n"), Condition::Unmet, "{name}");
        }
        assert_eq!(go(&format!("use_{system}.go"), "package x\n"), Condition::None);
        assert_eq!(go(&format!("{other}.go"), "package x\n"), Condition::None, "there is nothing before it");
        for (constraint, condition) in [
            ("special".to_owned(), Condition::Unmet),
            ("!special".to_owned(), Condition::None),
            (other.to_owned(), Condition::Unmet),
            (format!("{system} && !special"), Condition::None),
            (format!("{other} || ({system} && !special)"), Condition::None),
            (format!("!({other} || {system})"), Condition::Unmet),
            (format!("{system} && go1.18"), Condition::Unknown),
            ("&& what".to_owned(), Condition::Unmet),
            ("(".repeat(100_000), Condition::Unmet),
        ] {
            let text = format!("// A comment.\n\n//go:build {constraint}\n\npackage x\n");
            assert_eq!(go("a.go", &text), condition, "{}", constraint.get(..20).unwrap_or(&constraint));
        }
        let behind = go("a.go", "package x\n\n//go:build special\n");
        assert_eq!(behind, Condition::None, "it counts before the package alone");
    }

    #[test]
    fn branches_of_the_preprocessor_are_found_wherever_they_stand() {
        let within = |text: &str| -> Vec<String> {
            let spans = branches(text);
            let words =
                text.match_indices("use").filter(|(at, _)| spans.iter().any(|span| span.contains(at)));
            words.map(|(at, _)| text[at..at + 4].to_owned()).collect()
        };
        let guarded = "// A header.\n#ifndef A_H\n#define A_H\nuse1\n#ifdef X\nuse2\n#else\nuse3\n#endif\n#endif // A_H\n";
        assert_eq!(within(guarded), ["use2", "use3"]);
        assert_eq!(within(&guarded.replace("#ifndef A_H", "#if !defined(A_H)")), ["use2", "use3"]);
        assert_eq!(within("int a[] = {\n#ifdef X\n{ use1 },\n#endif\n use2 };\n"), ["use1"]);
        assert_eq!(within("#ifdef __cplusplus\nextern \"C\" {\nuse1\n#endif\nuse2\n"), Vec::<String>::new());
        assert_eq!(within("#ifndef A\n#define A\nuse1\n#endif\nuse2\n"), ["use1"], "code follows: no guard");
        assert_eq!(within("use1\n#ifndef A\nuse2\n#endif\n"), ["use2"]);
    }

    #[test]
    fn rust_items_fields_and_statements_are_conditional_by_their_attributes() {
        let folder = tempfile::tempdir().unwrap();
        let text = "#[cfg(windows)]\n/// Words.\n#[inline]\nfn one() { use1(); }\nfn two() {\n    #[cfg(not(unix))]\n    \
                    use2();\n    use3();\n}\nstruct S {\n    #[cfg(feature = \"x\")]\n    use4: u8,\n    use5: u8,\n}\n\
                    #[cfg(test)]\nmod tests { fn use6() {} }\nimpl S {\n    #[cfg(windows)]\n    fn use7() {}\n}\n";
        std::fs::write(folder.path().join("lib.rs"), text).unwrap();
        let workspace = crate::workspace::Workspace::open(folder.path()).unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let project = Project::new(&workspace, crate::config::Catalogue::built_in(), deadline);
        let source = project.source(&WorkspacePath::root().join("lib.rs").unwrap()).unwrap();
        let conditions = SourceConditions::new(&project, &source);
        let uses = text.match_indices("use").filter(|(at, _)| conditions.at(*at) == Condition::Unknown);
        let words: Vec<&str> = uses.map(|(at, _)| &text[at..at + 4]).collect();
        assert_eq!(words, ["use1", "use2", "use4", "use7"]);
    }

    #[test]
    fn rust_modules_are_conditional_where_their_declaration_is() {
        let folder = tempfile::tempdir().unwrap();
        let library = "mod plain;\n#[cfg(any(\n    windows,\n    other,\n))]\n/// Words.\npub mod other; // note\n\
                       #[cfg(test)]\nmod tests;\n#[cfg(x)]\n#[path = \"placed.rs\"]\nmod imp;\n\
                       #[cfg(x)]\nmod sys {\n    pub mod win;\n}\nmod deep;\nmod own;\n";
        for (name, text) in [
            ("lib.rs", library),
            ("plain.rs", ""),
            ("other.rs", "mod below;\n"),
            ("other/below.rs", ""),
            ("tests.rs", ""),
            ("placed.rs", ""),
            ("sys/win.rs", ""),
            ("deep/mod.rs", "pub mod down;\n"),
            ("deep/down.rs", ""),
            ("own.rs", "#![cfg(x)]\n"),
        ] {
            let path = folder.path().join("src").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let workspace = crate::workspace::Workspace::open(folder.path()).unwrap();
        let catalogue = crate::config::Catalogue::built_in();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let project = Project::new(&workspace, catalogue, deadline);
        let is_conditional = |name: &str| {
            let path = WorkspacePath::root().join("src").unwrap().join(name).unwrap();
            is_conditional_module(&project, &path, MAX_MODULE_DEPTH)
        };
        for name in ["other.rs", "other/below.rs", "placed.rs", "sys/win.rs", "own.rs"] {
            assert!(is_conditional(name), "{name}");
        }
        for name in ["plain.rs", "tests.rs", "deep/mod.rs", "deep/down.rs", "lib.rs"] {
            assert!(!is_conditional(name), "{name}");
        }
    }
}
