//! Patterns for tool names, with `*` for any part.

/// A tool's name, or with `*` in it, many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamePattern(String);

impl NamePattern {
    /// The pattern, if it is made of what names are made of and `*`.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/' | b'*');
        (!text.is_empty() && text.bytes().all(fits)).then(|| Self(text.to_owned()))
    }

    /// Whether `name` is meant.
    pub(crate) fn matches(&self, name: &str) -> bool {
        matches(&self.0, name)
    }
}

/// Whether `pattern` (`lsp_*`, `*`, `read`) means `name`. Upper and lower case are the same, as no two tools differ in that.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        // The first place is as good as any: what follows finds all that is left.
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
        ] {
            assert_eq!(matches(pattern, name), meant, "{pattern} {name}");
        }
    }

    #[test]
    fn name_pattern_from_invalid_name_is_none() {
        for text in ["", "a b", "bash(", "effect:read", "ä", "a.b"] {
            assert_eq!(NamePattern::new(text), None, "{text}");
        }
    }
}
