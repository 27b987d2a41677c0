//! What the README says of languages is what the catalogue says.
//!
//! To write the table anew after a change of `servers.toml`: `UPDATE_README=1 cargo test --test readme`.

use std::fmt::Write as _;
use std::path::Path;

use lsp_tools::config::Catalogue;
use lsp_tools::config::spec::Server;

const BEGIN: &str = "<!-- languages: written by tests/readme.rs -->\n";
const END: &str = "<!-- /languages -->\n";
/// Asks for the table to be written instead of compared.
const UPDATE: &str = "UPDATE_README";

#[test]
fn the_languages_are_those_of_the_catalogue() {
    let catalogue = Catalogue::built_in();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).expect("README.md");
    let (before, rest) = readme.split_once(BEGIN).expect("README.md has the mark where the languages begin");
    let (written, after) = rest.split_once(END).expect("README.md has the mark where the languages end");
    let table = table(catalogue);
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}"))
            .expect("README.md can be written");
    } else {
        assert_eq!(
            written, table,
            "the table is old; write it anew with: {UPDATE}=1 cargo test --test readme"
        );
    }
    let sentence = format!("{} languages and {} servers", catalogue.languages.len(), catalogue.servers.len());
    assert!(before.contains(&sentence), "the README does not say “{sentence}”");
}

fn table(catalogue: &Catalogue) -> String {
    let mut table =
        String::from("| language | runs | also known | how it is installed |\n|---|---|---|---|\n");
    let mut languages: Vec<_> = catalogue.languages.iter().collect();
    languages.sort_by_key(|(_, language)| language.name.to_lowercase());
    for (key, language) in languages {
        let running = catalogue.servers_for(key);
        let others = catalogue.speakers_of(key).into_iter().map(|(server, _)| server);
        let others = others.filter(|server| running.iter().all(|(runs, _)| runs != server));
        let install = running.first().map_or_else(String::new, |(_, server)| install(key, server));
        let names = |names: &mut dyn Iterator<Item = &str>| names.map(code).collect::<Vec<_>>().join(", ");
        let runs = names(&mut running.iter().map(|(server, _)| *server));
        let others = names(&mut others.into_iter());
        writeln!(table, "| {} | {runs} | {others} | {install} |", language.name)
            .expect("a String takes everything");
    }
    table
}

/// The command of ours where there is a recipe for it, else what to do by hand.
fn install(language: &str, server: &Server) -> String {
    let install = &server.install;
    if !install.recipes().is_empty() {
        return code(&format!("lsp-tools install {language}"));
    }
    match (&install.advice, &install.manual) {
        (Some(advice), _) => code(advice),
        (None, Some(manual)) => manual.replace('|', "\\|"),
        (None, None) => String::new(),
    }
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

/// Folders and files of the package that the table of the user's documents may name.
const NAMED: [&str; 7] = ["src/", "tests/", "bench/", "docs/", "examples/", "fixtures/", "servers.toml"];

#[test]
fn the_table_of_the_users_documents_names_what_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs/seeds.md")).expect("the table");
    let (mut rows, mut faults) = (0, Vec::new());
    for line in text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| asked |")) {
        rows += 1;
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [_, lives, held, _] = cells.as_slice() else {
            faults.push(format!("{} cells instead of four: {line}", cells.len()));
            continue;
        };
        let (lives, held) = (quoted(lives), quoted(held));
        if lives.is_empty() || held.is_empty() {
            faults.push(format!("without a file or a test: {line}"));
        }
        for named in lives.iter().chain(&held) {
            let (file, test) = match named.split_once("::") {
                Some((file, test)) => (file, Some(test)),
                None => (*named, None),
            };
            let is_ours = NAMED.iter().any(|front| file.starts_with(front));
            match std::fs::read_to_string(root.join(file)) {
                Ok(code) if is_ours => {
                    if test.is_some_and(|test| !has_test(&code, test)) {
                        faults.push(format!("no such test: {named}"));
                    }
                }
                _ => faults.push(format!("no such file: {named}")),
            }
        }
        if held.iter().any(|named| !named.contains("::")) {
            faults.push(format!("not a test: {line}"));
        }
    }
    assert!(rows > 100, "only {rows} rows");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What stands in backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Whether `code` has a test of this name: a function right below an attribute that makes it one.
fn has_test(code: &str, name: &str) -> bool {
    let signature = format!("fn {name}(");
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let is_test = |at: usize| {
        lines[..at].iter().rev().take_while(|line| line.starts_with("#[")).any(|line| line.contains("test"))
    };
    lines.iter().enumerate().any(|(at, line)| line.contains(&signature) && is_test(at))
}
