//! The README and the pages in docs/ agree with the program and the catalogue, and their links lead
//! to existing files.
//!
//! To rewrite the tables of languages and servers after a change of `servers.toml` or of the servers'
//! trials: `just readme`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use lsp_tools::internals::cli::Cli;
use lsp_tools::internals::config::{Catalogue, ServerSpec};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The page with the table of languages.
const LANGUAGES: &str = "docs/languages.md";
const BEGIN: &str = "<!-- languages: written by tests/readme.rs -->\n";
const END: &str = "<!-- /languages -->\n";
/// The marks of its table of servers.
const SERVERS_BEGIN: &str = "<!-- servers: written by tests/readme.rs -->\n";
const SERVERS_END: &str = "<!-- /servers -->\n";
/// The variable that requests writing the table instead of comparing it.
const UPDATE: &str = "UPDATE_README";
/// The maximum number of words that people read before a first try.
const MAX_README_WORDS: usize = 1_500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text_of(page: impl AsRef<Path>) -> String {
    let path = root().join(page);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares the part of the page between two marks with `table`, or writes it if requested. Returns
/// the text before it.
fn compare_or_write(begin: &str, end: &str, table: &str) -> String {
    let page = text_of(LANGUAGES);
    let (before, rest) = page.split_once(begin).expect("the page has the mark for the table's start");
    let (written, after) = rest.split_once(end).expect("the page has the mark for the table's end");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(root().join(LANGUAGES), format!("{before}{begin}{table}{end}{after}"))
            .expect("the page can be written");
    } else {
        assert_eq!(
            written, table,
            "the table is old; write it anew with: {UPDATE}=1 cargo test --test integration readme:: -- --test-threads=1"
        );
    }
    before.to_owned()
}

#[test]
fn readme_language_table_matches_catalogue() {
    let catalogue = Catalogue::built_in();
    let before = compare_or_write(BEGIN, END, &table(catalogue));
    let sentence = format!("{} languages and {} servers", catalogue.languages.len(), catalogue.servers.len());
    for (name, text) in [("README.md", text_of("README.md").as_str()), (LANGUAGES, &before)] {
        assert!(text.contains(&sentence), "{name} does not say “{sentence}”");
    }
}

/// The outcome of a server's last trial, as `just servers --record` writes it.
#[derive(serde::Deserialize)]
struct Trial {
    version: String,
    date: String,
    hover: String,
    definition: String,
    diagnostics: String,
}

#[test]
fn server_table_matches_catalogue_and_trials() {
    let catalogue = Catalogue::built_in();
    let trials: BTreeMap<String, Trial> =
        toml::from_str(&text_of("bench/results/servers.toml")).expect("the results are TOML");
    let unknown: Vec<&String> = trials.keys().filter(|key| !catalogue.servers.contains_key(*key)).collect();
    assert!(unknown.is_empty(), "results of servers that the catalogue lacks: {unknown:?}");
    let mut table = String::from(
        "| server | tried | version | hover | definition | diagnostics |\n|---|---|---|---|---|---|\n",
    );
    for key in catalogue.servers.keys() {
        let row = trials.get(key).map_or_else(
            || "not tried | | | | ".to_owned(),
            |trial| {
                let word = |outcome: &str| outcome.split(':').next().unwrap_or_default().replace('-', "–");
                let works = [&trial.hover, &trial.definition, &trial.diagnostics].map(|told| word(told));
                format!("{} | {} | {}", trial.date, trial.version, works.join(" | "))
            },
        );
        writeln!(table, "| `{key}` | {} |", row.trim_end()).expect("a String takes everything");
    }
    compare_or_write(SERVERS_BEGIN, SERVERS_END, &table);
}

#[test]
fn untrusted_page_names_every_catalogue_server() {
    let page = text_of("docs/untrusted.md");
    let words: BTreeSet<&str> =
        page.split(|letter: char| !(letter.is_alphanumeric() || letter == '-')).collect();
    let servers = Catalogue::built_in().servers.keys();
    let missing: Vec<&String> = servers.filter(|key| !words.contains(key.as_str())).collect();
    assert!(missing.is_empty(), "docs/untrusted.md names no {missing:?}");
}

#[test]
fn readme_stays_below_word_limit() {
    let words = text_of("README.md").split_whitespace().count();
    assert!(
        words <= MAX_README_WORDS,
        "README.md has {words} words; move what is not needed first into docs/"
    );
}

/// The statements that decide whether people read on.
#[test]
fn readme_begins_with_version_status_platforms_and_licence() {
    let text = text_of("README.md");
    let first: String = text.lines().skip(1).take(4).collect::<Vec<_>>().join(" ");
    for words in
        [env!("CARGO_PKG_VERSION"), "not published yet", "Linux", "macOS", "Windows", "MIT", "Apache-2.0"]
    {
        assert!(first.contains(words), "the first lines do not say “{words}”: {first}");
    }
}

/// The output of `just hosts`, verbatim.
#[test]
fn readme_transcript_is_the_recorded_one() {
    let recorded = text_of("docs/hooks-claude-code.txt");
    assert!(text_of("README.md").contains(&format!("```text\n{}\n```", recorded.trim_end())));
}

/// An example that does not work yet states that nothing is published.
#[test]
fn pages_have_no_placeholder_for_an_address() {
    let pages =
        std::fs::read_dir(root().join("docs")).expect("the pages").flatten().map(|entry| entry.path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    for page in pages.chain([root().join("README.md")]) {
        let text = text_of(&page);
        for placeholder in ["ADDRESS-OF", "OWNER/", "YOUR-", "TODO", "TBD"] {
            assert!(!text.contains(placeholder), "{} has the placeholder {placeholder}", page.display());
        }
    }
}

#[test]
fn readme_command_tables_match_program_commands() {
    let program = Cli::command();
    let commands: BTreeSet<&str> = program
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| command.get_name())
        .collect();
    for (page, heading) in [("README.md", "Commands"), ("docs/commands.md", "All commands")] {
        let text = text_of(page);
        let named = first_words_of_tables(&text, heading);
        let named: BTreeSet<&str> = named.iter().map(String::as_str).collect();
        assert_eq!(named, commands, "the tables below “{heading}” in {page} (left) and `lsp-tools --help`");
    }
}

/// The first word of each code span in the first column of every table below `heading`, up to the
/// next heading of its level.
fn first_words_of_tables(markdown: &str, heading: &str) -> BTreeSet<String> {
    let (mut words, mut level, mut title, mut column) = (BTreeSet::new(), None, None, None);
    for event in events(markdown) {
        match event {
            Event::Start(Tag::Heading { level: here, .. }) if level.is_none_or(|level| here <= level) => {
                (level, title) = (None, Some((here, String::new())));
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((here, text)) = title.take() {
                    level = (text == heading).then_some(here);
                }
            }
            Event::Text(part) => {
                if let Some((_, text)) = &mut title {
                    text.push_str(&part);
                }
            }
            Event::Start(Tag::TableRow) if level.is_some() => column = Some(0),
            Event::End(TagEnd::TableCell) => column = column.map(|column| column + 1),
            Event::Code(code) if column == Some(0) => {
                words.extend(code.split_whitespace().next().map(ToOwned::to_owned));
            }
            _ => {}
        }
    }
    words
}

fn events(markdown: &str) -> impl Iterator<Item = Event<'_>> {
    Parser::new_ext(markdown, Options::ENABLE_TABLES)
}

#[test]
fn markdown_links_lead_to_existing_files_and_headings() {
    let mut pages: Vec<PathBuf> = Vec::new();
    for folder in [root().to_owned(), root().join("docs"), root().join("fixtures")] {
        let entries =
            std::fs::read_dir(folder).expect("a folder of pages").flatten().map(|entry| entry.path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    let texts: BTreeMap<PathBuf, String> =
        pages.into_iter().map(|page| (page.clone(), text_of(&page))).collect();
    let (mut links, mut faults) = (0, Vec::new());
    for (page, text) in &texts {
        for event in events(text) {
            let (Event::Start(Tag::Link { dest_url, .. }) | Event::Start(Tag::Image { dest_url, .. })) =
                event
            else {
                continue;
            };
            if dest_url.contains("://") {
                continue;
            }
            links += 1;
            let (file, anchor) = dest_url.split_once('#').unwrap_or((&dest_url, ""));
            let target = match file {
                "" => page.clone(),
                file => lexical(&page.with_file_name(file)),
            };
            let fault = if !target.exists() {
                "no such file"
            } else if anchor.is_empty()
                || texts.get(&target).is_some_and(|text| anchors(text).contains(anchor))
            {
                continue;
            } else {
                "no such heading"
            };
            faults.push(format!("{}: {dest_url}: {fault}", page.display()));
        }
    }
    assert!(links > 50, "only {links} links");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// `path` without `..`, so that each page has one name.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// GitHub's anchors of a page's headings: lower case, without punctuation, with hyphens for spaces,
/// and a number after duplicates.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let (mut found, mut title) = (BTreeSet::new(), None::<String>);
    for event in events(markdown) {
        match (event, &mut title) {
            (Event::Start(Tag::Heading { .. }), _) => title = Some(String::new()),
            (Event::Text(part) | Event::Code(part), Some(text)) => text.push_str(&part),
            (Event::End(TagEnd::Heading(_)), Some(text)) => {
                let kept = text.to_lowercase().replace(' ', "-");
                let kept: String =
                    kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
                let free =
                    (0..).map(|number| if number == 0 { kept.clone() } else { format!("{kept}-{number}") });
                found.extend(free.into_iter().find(|anchor| !found.contains(anchor)));
                title = None;
            }
            _ => {}
        }
    }
    found
}

fn table(catalogue: &Catalogue) -> String {
    let mut table =
        String::from("| language | runs | also known | how it is installed |\n|---|---|---|---|\n");
    let mut languages: Vec<_> = catalogue.languages.iter().collect();
    languages.sort_by_key(|(_, language)| language.name.to_lowercase());
    for (key, language) in languages {
        let running = catalogue.servers_for(key);
        let others = catalogue.servers_supporting(key).into_iter().map(|(server, _)| server);
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

/// The `just` command if there is a recipe, else the manual command.
fn install(language: &str, server: &ServerSpec) -> String {
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

/// Folders and files of the package that the tables of requirements may name.
const NAMED: [&str; 7] = ["src/", "tests/", "bench/", "docs/", "examples/", "fixtures/", "servers.toml"];

#[test]
fn requirement_tables_name_existing_files_and_tests() {
    let text = text_of("docs/seeds.md");
    let (mut rows, mut faults) = (0, Vec::new());
    for line in text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| requirement |")) {
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
            match std::fs::read_to_string(root().join(file)) {
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

/// The code spans.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Returns true if `code` has a test of this name: a function directly below a test attribute.
fn has_test(code: &str, name: &str) -> bool {
    let signature = format!("fn {name}(");
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let is_test = |at: usize| {
        lines[..at].iter().rev().take_while(|line| line.starts_with("#[")).any(|line| line.contains("test"))
    };
    lines.iter().enumerate().any(|(at, line)| line.contains(&signature) && is_test(at))
}
