//! The search through a bundled text.
//!
//! The text is split at its `## ` headings. A section scores one for each occurrence of a query
//! word in it, and 2 more for each query word in its heading. The 8 best sections are the answer,
//! best first. If no word occurs anywhere, the first 5 sections are an overview.

/// The most sections of an answer, and of an overview.
const MAX_MATCHED_SECTIONS: usize = 8;
const MAX_OVERVIEW_SECTIONS: usize = 5;
const HEADING_MATCH_SCORE: usize = 2;

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LibrarySearchResult {
    /// The sections in order, with at most the requested number of characters.
    pub text: String,
    /// True if words of the query occur in it; otherwise it is an overview.
    pub matched: bool,
    /// True if the end was cut off.
    pub cut: bool,
}

/// Searches `text` for the words of `query`, and returns at most `most` characters.
pub(crate) fn search(text: &str, query: &str, most: usize) -> LibrarySearchResult {
    let sections = sections(text);
    let terms = terms(query);
    let mut scored: Vec<(usize, &str)> = sections
        .iter()
        .map(|section| (score(section, &terms), *section))
        .filter(|(score, _)| *score > 0)
        .collect();
    // Stable: among equals, the order of the text stays.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let matched = !scored.is_empty();
    let chosen: Vec<&str> = match matched {
        true => scored.into_iter().take(MAX_MATCHED_SECTIONS).map(|(_, section)| section).collect(),
        false => sections.into_iter().take(MAX_OVERVIEW_SECTIONS).collect(),
    };
    let (text, cut) = truncate_text(&chosen.join("\n\n"), most);
    LibrarySearchResult { text, matched, cut }
}

/// `text` with at most `most` characters. The flag is true if a part is missing.
pub(crate) fn truncate_text(text: &str, most: usize) -> (String, bool) {
    match text.char_indices().nth(most) {
        Some((end, _)) => (text[..end].trim_end().to_owned(), true),
        None => (text.to_owned(), false),
    }
}

/// The parts that begin with `## `; text before the first heading is left out.
fn sections(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        // A comment in a code example is not a heading.
        fenced ^= line.starts_with("```");
        if line.starts_with("## ") && !fenced {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| text[*start..end].trim_end()).collect()
}

fn terms(query: &str) -> Vec<String> {
    let mut terms: Vec<String> = query
        .to_lowercase()
        .split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|term| !term.is_empty())
        .map(str::to_owned)
        .collect();
    terms.sort();
    terms.dedup();
    terms
}

fn score(section: &str, terms: &[String]) -> usize {
    let section = section.to_lowercase();
    let heading = section.lines().next().unwrap_or_default();
    let of = |term: &String| {
        section.matches(term.as_str()).count()
            + if heading.contains(term.as_str()) { HEADING_MATCH_SCORE } else { 0 }
    };
    terms.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\nIntro about apples.\n\n## Apples\nAn apple.\n\n## Pears\nA pear, a pear, a pear, apple.\n\n## Code\n```\n## no heading pear\n```\n";

    #[test]
    fn library_docs_search_ranks_by_occurrences_and_headings() {
        // Apples: "apple" twice, and its heading: 4. Pears: once.
        assert_eq!(search(TEXT, "apple", 4_000).text.find("## Apples"), Some(0));
        // Pears: 4 times and its heading, 6; Code: once.
        let found = search(TEXT, "Pear?", 4_000);
        assert!(found.text.starts_with("## Pears") && found.text.contains("## Code"), "{}", found.text);
        assert!(found.matched && !found.cut && !found.text.contains("## Apples"));
        // Four occurrences, then one in a heading with 2 more, then two.
        let found = search("## Two\nfig fig\n\n## Fig\n.\n\n## Four\nfig fig fig fig\n", "fig", 4_000).text;
        let order = ["## Four", "## Fig", "## Two"].map(|heading| found.find(heading));
        assert!(order.is_sorted() && order[0] == Some(0), "{found}");
    }

    #[test]
    fn library_docs_search_without_match_returns_an_overview() {
        let found = search(TEXT, "quince", 4_000);
        assert!(!found.matched && found.text.starts_with("## Apples"));
        let many: String = (0..9).map(|number| format!("## S{number}\nword\n")).collect();
        assert_eq!(search(&many, "quince", 4_000).text.matches("## ").count(), 5);
        assert_eq!(search(&many, "word", 4_000).text.matches("## ").count(), 8);
    }

    #[test]
    fn library_docs_search_result_is_cut_at_limit() {
        let found = search(&format!("## Ä\n{}", "ä".repeat(9_000)), "ä", 4_000);
        assert!(found.cut && found.text.chars().count() == 4_000);
    }
}
