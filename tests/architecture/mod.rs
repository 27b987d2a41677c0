//! The form of the source: imports go down only and have no cycle, and only owner files open files,
//! start programs or search for them. ARCHITECTURE.md describes each layer.

mod graph;
mod layout;
mod module_comments;
mod owners;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use self::graph::Graph;

/// From the lowest to the highest; each may import the ones before it.
const LAYERS: &[&str] = &[
    "text",
    "platform",
    "workspace",
    "config",
    "process",
    "rpc",
    "lsp",
    "syntax",
    "analysis",
    "policy",
    "tools",
    "runtime",
    "bridges",
    "cli",
];

/// The maximum percentage of one-word type names. It falls, and never rises.
const ONE_WORD_TYPE_NAMES_PERCENT: usize = 13;
/// The maximum number of unrestricted `pub` items in the library. It falls, and rises only for new
/// items for embedders.
const PUBLIC_ITEMS: usize = 400;

static GRAPH: LazyLock<Graph> = LazyLock::new(Graph::of_the_library);

fn layer(file: &str) -> Option<usize> {
    let name = file.split('/').next().expect("a path has a first part").trim_end_matches(".rs");
    LAYERS.iter().position(|layer| *layer == name)
}

/// The folder of `bridges/` that a file belongs to.
fn bridge(file: &str) -> Option<&str> {
    file.strip_prefix("bridges/")?.split_once('/').map(|(name, _)| name)
}

#[test]
fn import_graph_lower_layer_never_imports_higher() {
    let up: Vec<String> = GRAPH
        .arrows()
        .filter(|(from, to)| layer(from).zip(layer(to)).is_some_and(|(from, to)| from < to))
        .map(|(from, to)| format!("{from} imports {to}"))
        .collect();
    assert!(up.is_empty(), "these imports go up:\n{}", up.join("\n"));
    let within = GRAPH.arrows().filter(|(from, to)| layer(from) > layer(to)).count();
    assert!(within > 1_000, "only {within} imports go down: the parser misses imports");
}

#[test]
fn import_graph_bridge_never_imports_another_bridge() {
    let sideways: Vec<String> = GRAPH
        .arrows()
        .filter(|(from, to)| bridge(from).zip(bridge(to)).is_some_and(|(from, to)| from != to))
        .map(|(from, to)| format!("{from} imports {to}"))
        .collect();
    assert!(sideways.is_empty(), "code shared by two bridges belongs below them:\n{}", sideways.join("\n"));
}

#[test]
fn import_graph_has_no_circle_of_files() {
    let line = |circle: BTreeSet<&str>| circle.into_iter().collect::<Vec<_>>().join(" ");
    let circles: Vec<String> = GRAPH.circles().into_iter().map(line).collect();
    assert!(circles.is_empty(), "these files import each other in a circle:\n{}", circles.join("\n"));
}

#[test]
fn type_names_are_unique() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &GRAPH.type_names {
        *counts.entry(name).or_default() += 1;
    }
    let shared: Vec<&str> =
        counts.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect();
    assert!(shared.is_empty(), "several types have the same name: {shared:?}");
}

#[test]
fn glossary_named_types_all_exist_in_source() {
    let page = std::fs::read_to_string("docs/glossary.md").expect("the glossary");
    let code = page.split('`').skip(1).step_by(2);
    let names: Vec<&str> = code
        .filter_map(|word| word.rsplit("::").next())
        .filter(|word| word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphanumeric))
        .collect();
    assert!(names.len() > 40, "only {names:?} are read");
    let unknown: Vec<&&str> =
        names.iter().filter(|name| !GRAPH.type_names.iter().any(|known| known == **name)).collect();
    assert!(unknown.is_empty(), "docs/glossary.md names types that are gone: {unknown:?}");
}

#[test]
fn type_names_single_word_share_stays_below_limit() {
    let names = &GRAPH.type_names;
    let one_word =
        names.iter().filter(|name| name.chars().filter(|letter| letter.is_uppercase()).count() == 1).count();
    assert!(
        one_word * 100 <= names.len() * ONE_WORD_TYPE_NAMES_PERCENT,
        "{one_word} of {} type names are one word",
        names.len()
    );
}

#[test]
fn public_items_do_not_become_more() {
    let public = GRAPH.public_items;
    assert!(public > 100, "only {public} public items: the parser misses items");
    assert!(
        public <= PUBLIC_ITEMS,
        "{public} items are `pub`: make items that no embedder needs `pub(crate)`, and move tests that need them beside the code"
    );
}
