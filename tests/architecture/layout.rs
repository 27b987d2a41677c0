//! The layout of the source: the size of each layer and folder, and the files among the tools.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{GRAPH, LAYERS, layer};

/// The maximum lines of code of each layer. A budget falls with its layer, and rises only with a
/// reason in the commit.
const MAX_CODE_LINES: &[(&str, usize)] = &[
    ("text", 4_340),
    ("platform", 2_791),
    ("workspace", 8_075),
    ("config", 4_528),
    ("process", 2_614),
    ("rpc", 1_140),
    ("lsp", 15_077),
    ("syntax", 8_595),
    ("analysis", 14_400),
    ("policy", 2_320),
    ("tools", 16_750),
    ("runtime", 3_145),
    ("bridges", 18_040),
    ("cli", 10_910),
];

/// The maximum number of files directly in one folder.
const MAX_FILES_OF_FOLDER: usize = 20;

/// The first segments of paths, and the conditions, that name an operating system.
const SYSTEM_PATHS: &[&str] = &[
    "rustix::",
    "nix::",
    "libc::",
    "landlock::",
    "std::os::",
    "tokio::net::unix",
    "tokio::signal::unix",
    "windows_sys::",
    "cfg(unix)",
    "cfg(windows)",
    "cfg(target_os)",
    "cfg(target_vendor)",
    "cfg(target_family)",
];

/// The framework of the tools, which all tools may use.
const TOOL_FRAMEWORK: &str = "tools/api/";

fn text_of(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of code of a file: not blank, not a comment, not in its module of tests.
fn code_lines(file: &str) -> usize {
    let text = text_of(file);
    let mut in_tests = false;
    let mut count = 0;
    for (line, next) in text.lines().zip(text.lines().skip(1).chain([""])) {
        in_tests |=
            matches!(line, "#[cfg(test)]" | "#[cfg(all(test, unix))]" | "#[cfg(all(test, linux_kernel))]")
                && next.starts_with("mod ")
                && next.ends_with('{');
        let code = line.trim_start();
        count += usize::from(!in_tests && !code.is_empty() && !code.starts_with("//"));
        in_tests &= line != "}";
    }
    count
}

#[test]
fn layers_stay_below_their_budgets_of_lines() {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for file in GRAPH.files() {
        if let Some(layer) = layer(file) {
            *lines.entry(LAYERS[layer]).or_default() += code_lines(file);
        }
    }
    let budgets: BTreeSet<&str> = MAX_CODE_LINES.iter().map(|(layer, _)| *layer).collect();
    assert_eq!(budgets, LAYERS.iter().copied().collect(), "each layer has a budget");
    let over: Vec<String> = MAX_CODE_LINES
        .iter()
        .filter(|(layer, budget)| lines[layer] > *budget)
        .map(|(layer, budget)| format!("{layer} has {} lines of at most {budget}", lines[layer]))
        .collect();
    assert!(over.is_empty(), "remove code before adding more: {over:?}");
}

#[test]
fn folders_have_few_files() {
    let mut files: BTreeMap<&Path, usize> = BTreeMap::new();
    for file in GRAPH.files() {
        *files.entry(Path::new(file).parent().expect("a file lies in a folder")).or_default() += 1;
    }
    let full: Vec<_> = files.into_iter().filter(|(_, count)| *count > MAX_FILES_OF_FOLDER).collect();
    assert!(full.is_empty(), "split these folders into subfolders: {full:?}");
}

#[test]
fn no_file_beside_platform_names_an_operating_system() {
    let names_system = |path: &str| SYSTEM_PATHS.iter().any(|system| path.starts_with(system));
    let files: BTreeSet<&str> =
        GRAPH.outside_paths().filter(|(_, path)| names_system(path)).map(|(file, _)| file).collect();
    let (within, beside): (Vec<&str>, Vec<&str>) =
        files.into_iter().partition(|file| file.starts_with("platform/"));
    assert!(within.len() > 5, "only {within:?} name a system: the parser misses paths");
    assert!(beside.is_empty(), "these files name an operating system: move that to platform/: {beside:?}");
}

#[test]
fn file_among_tools_is_a_tool_or_a_part_of_its_folder() {
    let folder = |file: &str| {
        let mut parts = file.split('/');
        (parts.next() == Some("tools")).then(|| parts.next().unwrap_or_default().to_owned())
    };
    let is_tool = |file: &str| text_of(file).contains("\nimpl Tool for ");
    let mut strangers = Vec::new();
    for (from, to) in GRAPH.arrows() {
        let is_part = to.starts_with("tools/")
            && !to.starts_with(TOOL_FRAMEWORK)
            && to.matches('/').count() == 2
            && !to.ends_with("/mod.rs");
        let is_elsewhere = folder(from).is_some_and(|of| Some(of) != folder(to));
        if is_part && is_elsewhere && !from.starts_with(TOOL_FRAMEWORK) && !is_tool(to) {
            strangers.push(format!("{from} imports {to}"));
        }
    }
    assert!(strangers.is_empty(), "code shared by tools of two folders belongs below them: {strangers:?}");
}
