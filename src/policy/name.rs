//! Names of tools: patterns with `*` for any part, and the names of tools in other programs.

use std::borrow::Cow;

/// Names of other programs for tools of this crate, as [`folded`] writes them. Callers and rules
/// may use either.
const ALIASES: [(&str, &str); 33] = [
    ("apply_patch", "patch"),
    ("create_directory", "mkdir"),
    ("create_file", "write"),
    ("delete_file", "delete"),
    ("exec", "bash"),
    ("fetch_webpage", "fetch_web_page"),
    ("file_search", "glob"),
    ("find_files", "glob"),
    ("get_changed_files", "changed_files"),
    ("get_errors", "lsp_diagnostics"),
    ("get_terminal_output", "bash_output"),
    ("grep_search", "grep"),
    ("insert_edit_into_file", "write"),
    ("list_dir", "list"),
    ("list_directory", "list"),
    ("ls", "list"),
    ("move_file", "move"),
    ("multiedit", "edit"),
    ("multi_edit", "edit"),
    ("read_file", "read"),
    ("rename_file", "move"),
    ("replace_string_in_file", "edit"),
    ("run_command", "bash"),
    ("run_in_terminal", "bash"),
    ("search", "grep"),
    ("search_files", "grep"),
    ("shell", "bash"),
    ("str_replace", "edit"),
    ("todo_read", "todoread"),
    ("todo_write", "todowrite"),
    ("web_fetch", "fetch_web_page"),
    ("webfetch", "fetch_web_page"),
    ("write_file", "write"),
];

/// `name` in lower case, with `_` for `-`: the spelling of this crate's tools.
fn folded(name: &str) -> Cow<'_, str> {
    let differs = |byte: u8| byte.is_ascii_uppercase() || byte == b'-';
    match name.bytes().any(differs) {
        true => Cow::Owned(name.to_ascii_lowercase().replace('-', "_")),
        false => Cow::Borrowed(name),
    }
}

/// The name here of a built-in tool that other programs call `name`; the folded name itself if it
/// is not an alias.
pub(crate) fn canonical_name(name: &str) -> Cow<'_, str> {
    let name = folded(name);
    match ALIASES.iter().find(|(alias, _)| *alias == name) {
        Some((_, own)) => Cow::Borrowed(own),
        None => name,
    }
}

/// A tool's name, or a pattern for several names if it contains `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamePattern(String);

impl NamePattern {
    /// The pattern; `None` if it contains characters other than those of names and `*`.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/' | b'*');
        (!text.is_empty() && text.bytes().all(fits)).then(|| Self(text.to_owned()))
    }

    /// Returns true if the pattern matches `name`.
    pub(crate) fn matches(&self, name: &str) -> bool {
        matches(&self.0, name)
    }
}

/// Returns true if `pattern` (`lsp_*`, `*`, `read`) matches `name`. Case is ignored, because no two
/// tools differ only in case. Another program's name for a tool matches that tool too.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name || canonical_name(&pattern) == name;
    };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        // The first match is enough: it leaves the most text for the remaining parts.
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.len() >= end.len() && name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_pattern_star_matches_any_part() {
        for (pattern, name, meant) in [
            ("read", "read", true),
            ("read", "READ", true),
            ("read", "reader", false),
            ("*", "anything", true),
            ("lsp_*", "lsp_hover", true),
            ("lsp_*", "my_lsp_hover", false),
            ("*_hover", "lsp_hover", true),
            ("l*p_*er", "lsp_hover", true),
            ("a*a", "a", false),
            ("a*b*b", "ab", false),
            ("a*b*b", "axbxb", true),
            ("mcp/*", "mcp/create_issue", true),
            ("run_in_terminal", "bash", true),
            ("read_file", "read_file", true),
            ("run_in_terminal", "bash_output", false),
        ] {
            assert_eq!(matches(pattern, name), meant, "{pattern} {name}");
        }
    }

    #[test]
    fn name_of_another_program_means_our_tool() {
        for (name, own) in [
            ("run_in_terminal", "bash"),
            ("resolve-library-id", "resolve_library_id"),
            ("TodoWrite", "todowrite"),
            ("Web-Fetch", "fetch_web_page"),
            ("files/read_file", "files/read_file"),
            ("lsp_hover", "lsp_hover"),
        ] {
            assert_eq!(canonical_name(name), own, "{name}");
        }
    }

    #[test]
    fn name_pattern_from_invalid_name_is_none() {
        for text in ["", "a b", "bash(", "effect:read", "ä", "a.b"] {
            assert_eq!(NamePattern::new(text), None, "{text}");
        }
    }
}
