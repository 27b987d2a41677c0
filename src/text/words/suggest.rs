//! Suggestions of the nearest known name, and lists of words in a sentence, for error messages.

/// Returns the word of `known` that `given` most likely means, if one is near enough.
pub(crate) fn nearest_word<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(&given.to_lowercase(), &word.to_lowercase()), word))
        .filter(|(distance, word)| *distance <= (word.chars().count() / 3).max(1))
        .min()
        .map(|(_, word)| word)
}

/// "; did you mean `command`?", or a list of the known words.
pub(crate) fn suggestion(given: &str, known: &[&str]) -> String {
    match nearest_word(given, known.iter().copied()) {
        Some(word) => format!("; did you mean `{word}`?"),
        None => format!("; there are {}", quoted_list(known)),
    }
}

/// "`a`, `b` and `c`".
pub(crate) fn quoted_list(words: &[&str]) -> String {
    match words {
        [] => String::from("none"),
        [only] => format!("`{only}`"),
        [front @ .., last] => {
            let front = front.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
            format!("{front} and `{last}`")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word_matches_typo_and_not_another_word() {
        assert_eq!(nearest_word("comand", ["command", "env"]), Some("command"));
        assert_eq!(nearest_word("Command", ["command", "env"]), Some("command"));
        assert_eq!(nearest_word("readm.md", ["README.md"]), Some("README.md"));
        assert_eq!(nearest_word("banana", ["command", "env"]), None);
        assert_eq!(nearest_word("x", ["env"]), None);
    }

    #[test]
    fn suggestion_without_a_near_word_lists_all_candidates() {
        assert_eq!(
            suggestion("banana", &["a-word", "env", "name"]),
            "; there are `a-word`, `env` and `name`"
        );
    }
}
