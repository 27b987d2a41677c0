//! The check whether a word can be a name in a language's grammar.

use std::time::Instant;

use super::grammar::Grammar;
use super::parse::parse;

/// The reasons why a word cannot be a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoName {
    /// The text is not one word.
    NoIdentifier,
    /// The word has another meaning in the language.
    Keyword,
}

/// Keywords that the grammars read as names if they stand alone.
const RESERVED: &[(&str, &str)] =
    &[("python", "async"), ("python", "await"), ("ruby", "end"), ("typescript", "new")];

/// Characters that no language allows in names.
const NEVER: &str = "()[]{}<>;,\"'`\\";

/// Checks that `word` can be a name in a file of `language` (a key of the catalogue) with this
/// extension.
///
/// If there is no grammar for the language, or the grammar gives no answer in time, only words that
/// no language allows are refused.
///
/// # Errors
/// [`NoName`].
pub(crate) fn can_be_name(
    language: &str,
    extension: Option<&str>,
    word: &str,
    deadline: Instant,
) -> Result<(), NoName> {
    let never = |c: char| c.is_whitespace() || c.is_control() || NEVER.contains(c);
    if word.is_empty() || word.chars().any(never) {
        return Err(NoName::NoIdentifier);
    }
    let Some(grammar) = Grammar::for_language(language, extension) else { return Ok(()) };
    // Before its tag, a PHP file is plain text.
    let before = if language == "php" { "<?php " } else { "" };
    let text = format!("{before}{word};");
    let end = before.len() + word.len();
    let Ok(tree) = parse(grammar, &text, deadline) else { return Ok(()) };
    let Some(node) = tree.root_node().descendant_for_byte_range(before.len(), end) else {
        return Ok(());
    };
    let whole = node.start_byte() == before.len() && node.end_byte() == end;
    let one_word = node.child_count() == 0 || node.named_child_count() == 1 && !node.is_error();
    if !whole || node.is_error() || !one_word {
        return Err(NoName::NoIdentifier);
    }
    let kind = node.kind();
    let keyword = RESERVED.contains(&(language, word))
        || !node.is_named()
        || kind.ends_with("_literal")
        || kind.eq_ignore_ascii_case(word)
        || kind == "primitive_type";
    if keyword { Err(NoName::Keyword) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::super::DEADLINE;
    use super::*;

    fn of(language: &str, word: &str) -> Result<(), NoName> {
        can_be_name(language, None, word, Instant::now() + DEADLINE)
    }

    #[test]
    fn keyword_or_malformed_identifier_is_not_a_name() {
        let mut faults = Vec::new();
        for (language, names, keywords) in [
            ("python", "greet _x x1 größe match type print Class", "class def None True lambda async"),
            ("javascript", "greet $x async of get type", "class function null this new typeof"),
            ("typescript", "greet $x type string", "class function null this new enum"),
            ("rust", "greet _x union r", "fn struct self true match"),
            ("go", "greet Greet", "func type nil range"),
            ("java", "greet Greet $x", "class null int"),
            ("c", "greet class", "struct int return"),
            ("cpp", "greet", "class int template return"),
            ("csharp", "greet", "class null namespace"),
            ("ruby", "greet Greet empty?", "class nil end"),
            ("php", "greet", ""),
            ("shell", "greet greet-all", ""),
        ] {
            let of = |word: &str| (language, word.to_owned(), of(language, word));
            let names = names.split_whitespace().map(of).filter(|(_, _, said)| said.is_err());
            faults.extend(names);
            let keywords = keywords.split_whitespace().map(of);
            faults.extend(keywords.filter(|(_, _, said)| *said != Err(NoName::Keyword)));
            let odd = ["", "not valid", "a.b", "a(b)", "a;b", "1x", "a\n"].map(of).into_iter();
            let allowed = |word: &str| language == "shell" && matches!(word, "a.b" | "1x");
            faults.extend(odd.filter(|(_, word, said)| said.is_ok() && !allowed(word)));
        }
        assert_eq!(faults, []);
        assert_eq!(of("css", "no-grammar-here"), Ok(()));
        assert_eq!(of("css", "a b"), Err(NoName::NoIdentifier));
    }
}
