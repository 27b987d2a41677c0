//! Conditional code: what a compiler reads in some configurations alone.
//!
//! A server that compiles the project in one configuration knows nothing of the code of the others, and lists no use there.

use tree_sitter::Node;

use super::project::Project;
use super::source::ParsedSource;
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// A name in conditional code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConditionalOccurrence {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// Where in it.
    pub(crate) position: Position,
    /// The condition is known not to hold on this machine; else it may hold.
    pub(crate) excluded: bool,
}

/// How the place at a byte depends on the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// It does not.
    None,
    /// It may be left out.
    Unknown,
    /// It is left out on this machine.
    Unmet,
}

/// How deep modules of Rust are looked through for a condition.
const MAX_MODULE_DEPTH: usize = 12;

/// Whether places of a file that has conditional code of its own, in the middle of other code, can be told.
pub(super) fn has_branches(source: &ParsedSource) -> bool {
    matches!(source.grammar.key, "c" | "cpp")
}

/// The condition under which the byte `at` of `source` is compiled.
pub(super) fn condition_at(project: &Project<'_>, source: &ParsedSource, at: usize) -> Condition {
    match source.grammar.key {
        "c" | "cpp" if is_in_branch(source, at) => Condition::Unknown,
        "go" if is_excluded_go_file(&source.path, &source.text) => Condition::Unmet,
        "rust" if is_conditional_module(project, &source.path, MAX_MODULE_DEPTH) => Condition::Unknown,
        _ => Condition::None,
    }
}

/// Whether a byte lies in a branch of the preprocessor. The guard of a header and what is said to C++ alone are none.
fn is_in_branch(source: &ParsedSource, at: usize) -> bool {
    let innermost = source.node(&(at..at));
    std::iter::successors(innermost, Node::parent).any(|node| is_branch(source, node, at))
}

fn is_branch(source: &ParsedSource, node: Node<'_>, at: usize) -> bool {
    if !matches!(
        node.kind(),
        "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_elifdef" | "preproc_else"
    ) {
        return false;
    }
    let in_field =
        |field: &str| node.child_by_field_name(field).is_some_and(|child| child.byte_range().contains(&at));
    let name = node.child_by_field_name("name").map(|name| source.text_of(name));
    let guard = name.and_then(|name| {
        let define = node.named_child(1).filter(|child| child.kind() == "preproc_def")?;
        Some(source.text_of(define.child_by_field_name("name")?) == name)
    });
    !in_field("name") && !in_field("condition") && guard != Some(true) && name != Some("__cplusplus")
}

/// Whether the go command leaves the file out on this machine: by the ending of its name, or by its `//go:build` line
/// (https://pkg.go.dev/cmd/go#hdr-Build_constraints). Tags that the user gives are not known, and count as not given.
fn is_excluded_go_file(path: &WorkspacePath, text: &str) -> bool {
    let name = path.name_lossy();
    let stem = name.strip_suffix(".go").unwrap_or(&name);
    let stem = stem.strip_suffix("_test").unwrap_or(stem);
    // What stands before the first "_" is the name of the file.
    let mut parts = stem.rsplit('_');
    let (last, before) = (parts.next().unwrap_or_default(), parts.next());
    let named: Vec<&str> = match before {
        None => Vec::new(),
        Some(before)
            if GO_ARCHITECTURES.contains(&last) && GO_SYSTEMS.contains(&before) && parts.next().is_some() =>
        {
            vec![before, last]
        }
        Some(_) if GO_SYSTEMS.contains(&last) || GO_ARCHITECTURES.contains(&last) => vec![last],
        Some(_) => Vec::new(),
    };
    let mut lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("package "));
    let constraint = lines.find_map(|line| line.strip_prefix("//go:build "));
    !named.into_iter().all(is_go_tag_set) || constraint.is_some_and(|given| !GoConstraint::new(given).holds())
}

const GO_SYSTEMS: [&str; 17] = [
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
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "wasip1",
    "windows",
    "zos",
];
const GO_ARCHITECTURES: [&str; 15] = [
    "386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le",
    "riscv64", "s390x", "sparc64", "wasm",
];

fn is_go_tag_set(tag: &str) -> bool {
    let system = if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "x86" => "386",
        "aarch64" => "arm64",
        "loongarch64" => "loong64",
        "powerpc64" => "ppc64",
        other => other,
    };
    tag == system
        || tag == architecture
        || matches!(tag, "gc" | "cgo")
        || tag == "unix" && cfg!(unix)
        || tag.strip_prefix("go1.").is_some_and(|minor| minor.parse::<u32>().is_ok())
}

/// An expression of tags, read from the left.
struct GoConstraint<'a> {
    rest: &'a str,
}

impl<'a> GoConstraint<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text.split("//").next().unwrap_or_default() }
    }

    /// Whether it holds; one that cannot be read does not.
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

/// Whether the module that is the file `path`, or one around it, is declared under a `#[cfg(…)]` other than that of tests.
fn is_conditional_module(project: &Project<'_>, path: &WorkspacePath, depth: usize) -> bool {
    let Some((folder, module)) = module_of(path).filter(|_| depth > 0) else { return false };
    let above = [
        folder.join("mod.rs").ok(),
        folder.join("lib.rs").ok(),
        folder.join("main.rs").ok(),
        folder.parent().and_then(|parent| parent.join(&format!("{}.rs", folder.name_lossy())).ok()),
    ];
    above.into_iter().flatten().filter(|file| file != path).any(|file| {
        let Some(source) = project.source(&file) else { return false };
        match declares_module(&source.text, &module) {
            Some(true) => true,
            Some(false) => is_conditional_module(project, &file, depth - 1),
            None => false,
        }
    })
}

/// The folder whose module declares that of the file, and its name.
fn module_of(path: &WorkspacePath) -> Option<(WorkspacePath, String)> {
    let name = path.name_lossy().into_owned();
    let folder = path.parent()?;
    match name.strip_suffix(".rs")? {
        "lib" | "main" => None,
        "mod" => Some((folder.parent()?, folder.name_lossy().into_owned())),
        stem => Some((folder, stem.to_owned())),
    }
}

/// Whether `text` declares the module under a condition; `None` where it does not declare it.
fn declares_module(text: &str, module: &str) -> Option<bool> {
    let mut condition = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[") {
            condition |= line.starts_with("#[cfg(") && line != "#[cfg(test)]";
            // A declaration may stand on the line of its attribute.
            if !line.ends_with(';') {
                continue;
            }
        }
        let declared = line.strip_suffix(';').and_then(|line| line.rsplit_once("mod ")).map(|(_, name)| name);
        if declared == Some(module) {
            return Some(condition);
        }
        condition = false;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> WorkspacePath {
        WorkspacePath::root().join(name).unwrap()
    }

    #[test]
    fn go_files_of_other_systems_and_tags_are_excluded() {
        let system = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
        let other = if system == "windows" { "linux" } else { "windows" };
        let excluded = |name: &str, text: &str| is_excluded_go_file(&path(name), text);
        assert!(excluded(&format!("use_{other}.go"), "package x\n"));
        assert!(excluded(&format!("use_{other}_test.go"), "package x\n"));
        assert!(excluded(&format!("use_{other}_amd64.go"), "package x\n"));
        assert!(!excluded(&format!("use_{system}.go"), "package x\n"));
        assert!(
            !excluded(&format!("{other}.go"), "package x\n"),
            "a name without a first part is no constraint"
        );
        for (constraint, is_left_out) in [
            ("special".to_owned(), true),
            ("!special".to_owned(), false),
            (other.to_owned(), true),
            (format!("{system} && !special"), false),
            (format!("{other} || ({system} && go1.18)"), false),
            (format!("!({other} || {system})"), true),
            ("&& what".to_owned(), true),
        ] {
            let text = format!("// A comment.\n\n//go:build {constraint}\n\npackage x\n");
            assert_eq!(excluded("a.go", &text), is_left_out, "{constraint}");
        }
        assert!(!excluded("a.go", "package x\n\n//go:build special\n"), "it counts before the package alone");
    }

    #[test]
    fn rust_modules_are_conditional_where_their_declaration_is() {
        let text =
            "mod plain;\n#[cfg(windows)]\npub mod other;\n#[cfg(test)]\nmod tests;\n#[cfg(unix)] mod here;\n";
        let found = ["plain", "other", "tests", "here", "none"].map(|module| declares_module(text, module));
        assert_eq!(found, [Some(false), Some(true), Some(false), Some(true), None]);
    }
}
