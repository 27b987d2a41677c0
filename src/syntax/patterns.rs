//! Languages without a grammar here: definitions by their keywords, comments by their markers.

use std::collections::BTreeMap;

use regex::Regex;

use super::answer::{Candidate, HintError, Hints};
use super::grammar::Grammar;
use super::resolution::by_name;
use super::resolution::by_name::{NameLookupQuery, distance, is_secondary};
use super::resolution::project::Project;
use crate::lsp::model::{FileRef, Location, SymbolKind};
use crate::text::Identifier;
use crate::workspace::{Hit, WorkspacePath};

/// The patterns of one language's definitions. `NAME` stands for the name; the first pattern that
/// matches decides.
struct Patterns {
    languages: &'static [&'static str],
    definitions: &'static [(&'static str, &'static str)],
    /// The beginnings of comments that reach to the end of their line.
    comments: &'static [&'static str],
}

const TABLE: &[Patterns] = &[
    Patterns {
        languages: &["lua"],
        definitions: &[
            ("method", r"\bfunction\s+[\w.]+[.:]NAME\s*\("),
            ("function", r"\bfunction\s+NAME\s*\("),
            ("function", r"(?:^|[\s.])NAME\s*=\s*function\b"),
            ("variable", r"^\s*local\s+(?:\w+\s*,\s*)*NAME\b"),
            ("variable", r"^\s*NAME\s*="),
        ],
        comments: &["--"],
    },
    Patterns {
        languages: &["kotlin", "scala", "groovy", "swift"],
        definitions: &[
            ("class", r"\b(?:class|object|struct|actor|extension|trait)\s+NAME\b"),
            ("interface", r"\b(?:interface|protocol)\s+NAME\b"),
            ("enum", r"\benum\s+(?:class\s+)?NAME\b"),
            ("function", r"\b(?:fun|func|def)\s+(?:<[^>]*>\s*)?(?:[\w.<>]+\.)?NAME\b"),
            ("class", r"\b(?:typealias|type)\s+NAME\b"),
            ("variable", r"\b(?:val|var|let)\s+NAME\b"),
            ("enum member", r"^\s*(?:indirect\s+)?case\s+NAME\b"),
        ],
        comments: &["//"],
    },
    Patterns {
        languages: &["dart", "d", "solidity", "objective-c", "objective-cpp", "cuda", "glsl", "wgsl"],
        definitions: &[
            (
                "class",
                r"\b(?:class|struct|mixin|contract|library|extension|@interface|@implementation)\s+NAME\b",
            ),
            ("interface", r"\b(?:interface|@protocol)\s+NAME\b"),
            ("enum", r"\benum\s+NAME\b"),
            ("function", r"\b(?:function|fn|modifier|event)\s+NAME\b"),
            ("method", r"^\s*[-+]\s*\([^)]*\)\s*NAME\b"),
            ("function", r"^\s*(?:[\w<>\[\],?*&]+\s+)+[*&]?NAME\s*\("),
            ("variable", r"^\s*(?:[\w<>\[\],?*&]+\s+)+[*&]?NAME\s*(?:=|;)"),
        ],
        comments: &["//"],
    },
    Patterns { languages: &["c", "cpp"], definitions: &[("function", r"\bNAME\s*\(")], comments: &["//"] },
    Patterns {
        languages: &["elixir"],
        definitions: &[
            ("module", r"\b(?:defmodule|defprotocol)\s+(?:[\w.]+\.)?NAME\b"),
            ("function", r"\b(?:def|defp|defmacro|defmacrop|defguard|defdelegate)\s+NAME\b"),
            ("variable", r"^\s*@NAME\s"),
        ],
        comments: &["#"],
    },
    Patterns {
        languages: &["haskell", "purescript", "elm"],
        definitions: &[
            ("class", r"^\s*(?:data|newtype|type(?:\s+alias)?|class)\s+(?:.*=>\s*)?NAME\b"),
            ("module", r"^module\s+(?:[\w.]+\.)?NAME\b"),
            ("function", r"^\s*NAME\s*::"),
            ("function", r"^\s*NAME\s.*="),
            ("function", r"^\s*NAME\s*:\s"),
            ("enum member", r"[=|]\s*NAME\b"),
        ],
        comments: &["--"],
    },
    Patterns {
        languages: &["ocaml", "fsharp", "rescript"],
        definitions: &[
            ("function", r"\b(?:let|and|val|external|member)\s+(?:rec\s+|inline\s+|mutable\s+|\w+\.)*NAME\b"),
            ("class", r"\b(?:type|and|class|exception)\s+(?:'\w+\s+|\([^)]*\)\s*)?NAME\b"),
            ("module", r"\bmodule\s+(?:type\s+|rec\s+)?NAME\b"),
            ("enum member", r"^\s*\|?\s*NAME\b\s*(?:of\b|\||$)"),
        ],
        comments: &["//"],
    },
    Patterns {
        languages: &["perl"],
        definitions: &[
            ("function", r"\bsub\s+NAME\b"),
            ("module", r"\bpackage\s+(?:[\w:]+::)?NAME\b"),
            ("variable", r"\b(?:my|our|local|state)\s*\(?[^=;]*[$@%]NAME\b"),
        ],
        comments: &["#"],
    },
    Patterns {
        languages: &["r"],
        definitions: &[
            ("function", r"\bNAME\s*(?:<-|=)\s*function\b"),
            ("class", r#"\bset(?:Class|RefClass|Generic|Method)\(\s*["']NAME["']"#),
            ("variable", r"^\s*NAME\s*(?:<-|=)"),
        ],
        comments: &["#"],
    },
    Patterns {
        languages: &["julia"],
        definitions: &[
            ("function", r"\b(?:function|macro)\s+(?:\w+\.)?NAME\b"),
            ("struct", r"\b(?:struct|abstract\s+type|primitive\s+type)\s+NAME\b"),
            ("module", r"\bmodule\s+NAME\b"),
            ("function", r"^\s*NAME\([^=]*\)\s*(?:::\s*\S+\s*)?=[^=]"),
            ("constant", r"\bconst\s+NAME\b"),
            ("variable", r"^\s*NAME\s*="),
        ],
        comments: &["#"],
    },
    Patterns {
        languages: &["zig", "gleam"],
        definitions: &[
            ("function", r"\bfn\s+NAME\b"),
            ("variable", r"\b(?:const|var|let)\s+NAME\b"),
            ("class", r"\btype\s+NAME\b"),
            ("field", r"^\s*NAME\s*:"),
        ],
        comments: &["//"],
    },
    Patterns {
        languages: &["nim"],
        definitions: &[
            ("function", r"\b(?:proc|func|method|iterator|template|macro|converter)\s+`?NAME\b"),
            (
                "class",
                r"^\s*(?:type\s+)?NAME\*?\s*(?:\[[^\]]*\])?\s*=\s*(?:ref\s+)?(?:object|enum|tuple|distinct)",
            ),
            ("variable", r"\b(?:let|var|const)\s+NAME\b"),
        ],
        comments: &["#"],
    },
    Patterns {
        languages: &["sql"],
        definitions: &[
            (
                "class",
                r#"(?i)\bcreate\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:table|view|materialized\s+view|type|index|sequence|schema)\s+(?:if\s+not\s+exists\s+)?(?:[\w"`]+\.)?["`\[]?NAME\b"#,
            ),
            (
                "function",
                r#"(?i)\bcreate\s+(?:or\s+replace\s+)?(?:function|procedure|trigger)\s+(?:[\w"`]+\.)?["`]?NAME\b"#,
            ),
            ("class", r"(?i)(?:\bwith|,)\s+NAME\s+as\s*\("),
        ],
        comments: &["--"],
    },
    Patterns {
        languages: &["make", "just"],
        definitions: &[
            ("function", r"^@?(?:[\w.%/-]+\s+)*NAME(?:\s[^:=]*)?:(?:[^=]|$)"),
            ("variable", r"^\s*(?:export\s+|override\s+)*NAME\s*[:+?!]*="),
            ("variable", r"^define\s+NAME\b"),
        ],
        comments: &["#"],
    },
    Patterns {
        languages: &["cmake"],
        definitions: &[
            ("function", r"(?i)\b(?:function|macro)\s*\(\s*NAME\b"),
            ("module", r"(?i)\badd_(?:library|executable|custom_target)\s*\(\s*NAME\b"),
            ("variable", r"(?i)\b(?:set|option)\s*\(\s*NAME\b"),
        ],
        comments: &["#"],
    },
    Patterns {
        languages: &["terraform", "terraform-vars"],
        definitions: &[
            ("class", r#"^\s*(?:resource|data)\s+"[^"]*"\s+"NAME""#),
            ("variable", r#"^\s*(?:variable|output|module|provider)\s+"NAME""#),
            ("variable", r"^\s*NAME\s*="),
        ],
        comments: &["#", "//"],
    },
    Patterns {
        languages: &["dockerfile"],
        definitions: &[
            ("module", r"(?i)^\s*from\s+\S+\s+as\s+NAME\b"),
            ("variable", r"(?i)^\s*(?:arg|env)\s+(?:\S+=\S+\s+)*NAME\b"),
        ],
        comments: &["#"],
    },
    Patterns {
        languages: &["vim"],
        definitions: &[
            ("function", r"\bfu(?:nction)?!?\s+(?:[\w#]+[:#])?NAME\b"),
            ("function", r"\bcommand!?\s+(?:-\S+\s+)*NAME\b"),
            ("variable", r"^\s*let\s+(?:[a-z]:)?NAME\b"),
        ],
        comments: &["\""],
    },
    Patterns {
        languages: &["fortran"],
        definitions: &[
            ("function", r"(?i)^(?:[^!'e]|e[^n])*\b(?:subroutine|function)\s+NAME\b"),
            ("module", r"(?i)^\s*(?:module|program|submodule\s*\([^)]*\))\s+NAME\b"),
            ("class", r"(?i)^\s*type\b[^(]*\bNAME\s*$"),
            ("variable", r"(?i)::[^!]*\bNAME\b"),
        ],
        comments: &["!"],
    },
    Patterns {
        languages: &["erlang"],
        definitions: &[
            ("function", r"^NAME\s*\("),
            ("class", r"^-(?:record|type|opaque|define)\s*\(?\s*NAME\b"),
            ("module", r"^-module\(NAME\)"),
        ],
        comments: &["%"],
    },
    Patterns {
        languages: &["clojure", "racket"],
        definitions: &[("function", r"\(\s*(?:def[\w-]*|struct)\s+(?:\^\S+\s+)?\(?NAME(?:$|[\s)\]])")],
        comments: &[";"],
    },
    Patterns {
        languages: &["css", "scss", "less"],
        definitions: &[
            ("function", r"@(?:mixin|function)\s+NAME\b"),
            ("variable", r"(?:^|[\s{;])(?:--|\$|@)?NAME\s*:"),
            ("class", r"[.#]NAME\b[^;]*[{,]\s*$"),
        ],
        comments: &["//"],
    },
    Patterns {
        languages: &["protobuf", "graphql", "prisma"],
        definitions: &[
            ("class", r"\b(?:message|service|type|input|model|scalar|union)\s+NAME\b"),
            ("enum", r"\benum\s+NAME\b"),
            ("interface", r"\binterface\s+NAME\b"),
            ("method", r"\brpc\s+NAME\b"),
            ("field", r"^\s*(?:\w+\s+)*NAME\s*(?:=|:|\()"),
        ],
        comments: &["//", "#"],
    },
    Patterns {
        languages: &["verilog", "systemverilog", "vhdl"],
        definitions: &[
            ("module", r"(?i)\b(?:module|interface|package|entity|architecture|component|class)\s+NAME\b"),
            ("function", r"(?i)\b(?:function|task|procedure)\b[^;(]*\bNAME\s*[;(]"),
            (
                "variable",
                r"(?i)\b(?:reg|wire|logic|signal|parameter|localparam|constant|input|output|inout)\b[^;=]*\bNAME\b",
            ),
        ],
        comments: &["//", "--"],
    },
];

/// The patterns for every other language: the keywords that most languages use, then an assignment
/// at the start of a line.
const GENERIC: Patterns = Patterns {
    languages: &[],
    definitions: &[
        ("class", r"(?i)\b(?:class|struct|type|record|object|trait|union|enum|interface|protocol)\s+NAME\b"),
        ("module", r"(?i)\b(?:module|namespace|package|unit)\s+NAME\b"),
        (
            "function",
            r"(?i)\b(?:def|fn|func|fun|function|sub|proc|procedure|method|macro|task|define)\s+NAME\b",
        ),
        ("variable", r"\b(?:let|var|val|const|local|set|constant|variable)\s+NAME\b"),
        ("variable", r"^\s*NAME\s*(?:=|:=|<-|:)(?:[^=]|$)"),
    ],
    comments: &["//", "#", "--", ";", "%"],
};

impl Patterns {
    fn for_language(language: Option<&str>) -> &'static Patterns {
        let known =
            language.and_then(|language| TABLE.iter().find(|entry| entry.languages.contains(&language)));
        known.unwrap_or(&GENERIC)
    }

    fn compile_for(&self, name: &str) -> Vec<(&'static str, Regex)> {
        let name = regex::escape(name);
        let compile = |(kind, pattern): &(&'static str, &'static str)| {
            Regex::new(&pattern.replace("NAME", &name)).ok().map(|regex| (*kind, regex))
        };
        self.definitions.iter().filter_map(compile).collect()
    }

    /// Returns the offset of the comment on `line`.
    fn comment_start(&self, line: &str) -> usize {
        let mut quote: Option<char> = None;
        let mut previous = ' ';
        for (at, c) in line.char_indices() {
            match quote {
                Some(open) if c == open && previous != '\\' => quote = None,
                Some(_) => {}
                None => {
                    if self.comments.iter().any(|marker| line[at..].starts_with(marker))
                        && (at == 0 || !previous.is_alphanumeric())
                    {
                        return at;
                    }
                    if matches!(c, '"' | '`') {
                        quote = Some(c);
                    }
                }
            }
            previous = c;
        }
        line.len()
    }
}

/// Returns the definitions of `identifier`, which occurs in the file `path` of a language without
/// grammar.
///
/// # Errors
/// [`HintError`] if the workspace cannot be searched.
pub(super) fn definition(
    project: &Project<'_>,
    path: &WorkspacePath,
    identifier: &Identifier,
) -> Result<Hints, HintError> {
    let language = project.language(path);
    let (hits, truncated, timed_out) = by_name::occurrences(project, language, &identifier.name)?;
    let mut hints = Hints {
        identifier: Some((identifier.name.clone(), Some(identifier.range))),
        truncated,
        timed_out,
        ..Hints::default()
    };
    let query = NameLookupQuery {
        name: &identifier.name,
        spot: None,
        source: None,
        path: Some(path),
        container: None,
    };
    from_hits(project, &query, &hits, &mut hints);
    Ok(hints)
}

/// Adds the hits that look like definitions, best first.
pub(super) fn from_hits(project: &Project<'_>, query: &NameLookupQuery<'_>, hits: &[Hit], hints: &mut Hints) {
    // The languages of the hits, with their patterns for the queried name.
    let mut known = BTreeMap::new();
    for hits in hits.chunk_by(|one, other| one.path == other.path) {
        let path = &hits[0].path;
        let language = project.language(path);
        // Files with a grammar were parsed; a hit that was no definition there is none here.
        let has_grammar =
            language.is_some_and(|language| Grammar::for_language(language, path.extension()).is_some());
        let may_define = |hit: &&Hit| !has_grammar || reads_as_c_function(language, hit, query.name);
        let mut hits = hits.iter().filter(may_define).peekable();
        if hits.peek().is_none() {
            continue;
        }
        let (patterns, compiled) = known.entry(language).or_insert_with(|| {
            let patterns = Patterns::for_language(language);
            (patterns, patterns.compile_for(query.name))
        });
        for hit in hits {
            let code = hit.line.get(..patterns.comment_start(&hit.line)).unwrap_or_default();
            let Some(rank) = compiled.iter().position(|(_, regex)| regex.is_match(code)) else { continue };
            hints.candidates.push(to_candidate(query, hit, compiled[rank].0, rank));
        }
    }
    hints.candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
}

/// Returns true if the line looks like the start of a C function's body. Macros between its type
/// and its name spoil the tree.
fn reads_as_c_function(language: Option<&str>, hit: &Hit, name: &str) -> bool {
    let before = hit.line.get(..).and_then(|line| line.find(name)).map_or("", |at| &hit.line[..at]);
    let after = hit.line.get(before.len() + name.len()..).unwrap_or_default().trim_start();
    matches!(language, Some("c" | "cpp"))
        && before.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && before.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '*'))
        && !before.starts_with("return")
        && after.starts_with('(')
        && !hit.line.trim_end().ends_with(';')
}

fn to_candidate(query: &NameLookupQuery<'_>, hit: &Hit, kind: &str, rank: usize) -> Candidate {
    let is_here = query.path == Some(&hit.path);
    let far = distance(query.path, &hit.path);
    let mut score = 100 - i32::try_from(rank.min(20)).unwrap_or(20) * 4;
    score += if is_here { 40 } else { -(i32::try_from(far.min(20)).unwrap_or(20)) * 2 };
    if is_secondary(&hit.path) {
        score -= 30;
    }
    let place = if is_here {
        "in the same file"
    } else if far <= 2 {
        "in the same folder"
    } else {
        "elsewhere"
    };
    Candidate {
        location: Location {
            file: FileRef::Inside(hit.path.clone()),
            range: hit.range,
            text: Some(hit.line.trim_end().to_owned()),
        },
        kind: SymbolKind::from_name(kind),
        container: None,
        why: format!("line that reads as the definition of a {kind}, {place}"),
        score,
        signature: Some(hit.line.trim().to_owned()),
        documentation: None,
    }
}
