//! The names of symbols that a search is for, in a pattern or in a shell command.

use std::sync::LazyLock;

use regex::Regex;

use crate::policy::shell::{Script, SimpleCommand};

/// The name of a symbol as searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SearchedSymbolName {
    /// The qualifier, if given (`Class` of `Class.method`).
    pub(crate) container: Option<String>,
    /// The symbol's own name.
    pub(crate) name: String,
}

impl std::fmt::Display for SearchedSymbolName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.container {
            Some(container) => write!(out, "{container}.{}", self.name),
            None => out.write_str(&self.name),
        }
    }
}

/// The number of names taken from one search.
const MAX_SEARCHED_NAMES: usize = 3;
/// The minimum length of a name. Shorter names have too many matches.
const MIN_NAME_CHARS: usize = 3;
/// The length limit of a pattern that is searched for names.
const MAX_PATTERN_BYTES: usize = 300;

/// A name with the usual parts of a pattern around it: anchors, keywords before a definition, the
/// parenthesis of a call.
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let gap = r"(?:\s|\\s[+*]?)+";
    let keyword = "pub|async|export|default|static|public|private|protected|abstract|final|def|class|fn|func|function|struct|enum|\
                   trait|interface|type|const|let|var|impl|mod|module";
    let pattern = format!(
        r"^\^?(?:\s|\\s\*)*(?:(?:{keyword}){gap})*(?:\\b|\\<)?(?P<path>[A-Za-z_$][\w$]*(?:(?:\\?\.|::)[A-Za-z_$][\w$]*)*)(?:\\b|\\>)?(?:\\s\*)?\s*(?:\\?\(|\[\(\]|:)?\$?$"
    );
    Regex::new(&pattern).ok()
});

/// Programs that search text. Their first argument is the pattern.
const SEARCH_PROGRAMS: [&str; 8] = ["grep", "egrep", "fgrep", "rg", "ugrep", "ag", "ack", "git"];
/// Their options that take the next word as a value.
const OPTIONS_WITH_WORD: [&str; 26] = [
    "-A",
    "-B",
    "-C",
    "-m",
    "-f",
    "-g",
    "-t",
    "-T",
    "-d",
    "-D",
    "-j",
    "--glob",
    "--iglob",
    "--type",
    "--type-not",
    "--max-count",
    "--context",
    "--after-context",
    "--before-context",
    "--include",
    "--exclude",
    "--exclude-dir",
    "--file",
    "--threads",
    "--sort",
    "--max-depth",
];

/// Returns the names in a pattern: one, or several alternatives. Returns none if the pattern is not
/// for names.
pub(super) fn names_in_pattern(pattern: &str) -> Vec<SearchedSymbolName> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Vec::new();
    }
    let inner = pattern.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(pattern);
    let parts: Vec<&str> = inner.split('|').map(|part| part.trim_end_matches('\\')).collect();
    if parts.len() > MAX_SEARCHED_NAMES {
        return Vec::new();
    }
    parts.into_iter().map(name_in).collect::<Option<Vec<_>>>().unwrap_or_default()
}

fn name_in(part: &str) -> Option<SearchedSymbolName> {
    let path = NAME.as_ref()?.captures(part)?.name("path")?.as_str().replace("\\.", ".").replace("::", ".");
    let mut names = path.rsplit('.').map(str::to_owned);
    let name = names.next().filter(|name| name.chars().count() >= MIN_NAME_CHARS)?;
    Some(SearchedSymbolName { container: names.next(), name })
}

/// Returns the names that the first search in a command is for.
pub(super) fn names_in_command(command: &str) -> Vec<SearchedSymbolName> {
    let script = Script::read(command);
    script.commands.iter().find_map(pattern_of).map(|pattern| names_in_pattern(&pattern)).unwrap_or_default()
}

/// Returns the pattern of a search command.
fn pattern_of(command: &SimpleCommand) -> Option<String> {
    let mut words = command.words.iter().map(|word| word.text());
    let program = words.next()??;
    let program = program.rsplit('/').next()?;
    if !SEARCH_PROGRAMS.contains(&program) || (program == "git" && words.next()? != Some("grep")) {
        return None;
    }
    while let Some(word) = words.next() {
        let word = word?;
        match word {
            "-e" | "--regexp" | "--" => return words.next()?.map(str::to_owned),
            option if OPTIONS_WITH_WORD.contains(&option) => {
                words.next();
            }
            option if option.starts_with('-') && option.len() > 1 => {}
            pattern => return Some(pattern.to_owned()),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(names: &[SearchedSymbolName]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_are_found_in_the_patterns_that_models_write() {
        for (pattern, names) in [
            ("compose", &["compose"][..]),
            (r"\bcompose\b", &["compose"]),
            (r"def compose\(", &["compose"]),
            (r"^\s*def\s+compose", &["compose"]),
            ("class Person", &["Person"]),
            ("pub async fn run_plan", &["run_plan"]),
            ("Person.title", &["Person.title"]),
            (r"Person\.title\(", &["Person.title"]),
            ("Client::connect", &["Client.connect"]),
            ("compose|Person", &["compose", "Person"]),
            (r"compose\|Person", &["compose", "Person"]),
            ("(compose|Person)", &["compose", "Person"]),
            (r"^compose:$", &["compose"]),
            ("import .* from", &[]),
            ("some words here", &[]),
            ("a", &[]),
            ("", &[]),
            ("TODO|FIXME|XXX|HACK", &[]),
            (".*", &[]),
            ("foo.*bar", &[]),
        ] {
            assert_eq!(shown(&names_in_pattern(pattern)), names, "{pattern}");
        }
    }

    #[test]
    fn pattern_is_found_in_commands_that_search() {
        for (command, names) in [
            ("grep -rn 'def compose' src", &["compose"][..]),
            ("rg -n --glob '*.py' compose | head -20", &["compose"]),
            ("cd src && rg -A 3 -e compose .", &["compose"]),
            ("git grep -n compose", &["compose"]),
            ("/usr/bin/ugrep -r \"compose\" .", &["compose"]),
            ("find . -name '*.py' | xargs grep compose", &[]),
            ("git log compose", &[]),
            ("ls compose", &[]),
            ("grep -rn \"$NAME\" src", &[]),
            ("grep", &[]),
        ] {
            assert_eq!(shown(&names_in_command(command)), names, "{command}");
        }
    }
}
