//! The front matter of a `SKILL.md`: a small part of YAML, without any expansion.
//!
//! Top-level keys with a plain text (also over several indented lines), a quoted text, or a block
//! (`|`, `>`) are read. Keys that are not needed may hold lists and tables, which are skipped.
//! Anchors, aliases and tags are errors.

use serde_json::{Map, Value};

/// The largest front matter, in bytes.
const MAX_FRONTMATTER_BYTES: usize = 64 << 10;
/// The longest description, in characters.
const MAX_FRONTMATTER_DESCRIPTION_CHARS: usize = 1_024;

/// The content of the front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frontmatter {
    /// The name, as written.
    pub name: String,
    /// The description, on one line.
    pub description: String,
    /// The other keys with a plain text, a number or a truth value, without lists and tables.
    pub more: Map<String, Value>,
}

/// An error in the front matter. Lines are 1-based.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrontmatterError {
    /// The file does not begin with `---`.
    #[error("SKILL.md does not begin with `---`, `name: …`, `description: …`, `---`")]
    Absent,
    /// The second `---` is missing, or too far away.
    #[error("the head of SKILL.md does not end with `---` within {MAX_FRONTMATTER_BYTES} bytes")]
    Endless,
    /// A line is not `key: value`.
    #[error("SKILL.md line {line}: this is not `key: value`")]
    NoKey {
        /// The line.
        line: usize,
    },
    /// A key occurs twice.
    #[error("SKILL.md line {line}: duplicate key")]
    Twice {
        /// The line.
        line: usize,
    },
    /// The kind of value is not supported.
    #[error(
        "SKILL.md line {line}: anchors, aliases, tags and unclosed quotes are not supported; write plain text"
    )]
    NotPlain {
        /// The line.
        line: usize,
    },
    /// A key is missing, or has no text.
    #[error("the head of SKILL.md has no `{key}`")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// The description is too long.
    #[error(
        "the description in SKILL.md has {chars} characters, accepted: at most {MAX_FRONTMATTER_DESCRIPTION_CHARS}"
    )]
    Long {
        /// The number of characters.
        chars: usize,
    },
}

/// A key with its value as written: the rest of its line, and the lines below that belong to it.
struct FrontmatterEntry<'a> {
    key: &'a str,
    line: usize,
    value: &'a str,
    below: Vec<&'a str>,
}

impl Frontmatter {
    /// Parses the front matter of the text of a `SKILL.md`.
    ///
    /// # Errors
    /// If it is missing, or contains an unsupported construct.
    pub(crate) fn parse(text: &str) -> Result<Self, FrontmatterError> {
        let entries = parse_entries(text)?;
        let get = |key| match entries.iter().find(|entry| entry.key == key) {
            Some(entry) => entry.text().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")),
            None => Ok(String::new()),
        };
        let (name, description) = (get("name")?, get("description")?);
        for (key, text) in [("name", &name), ("description", &description)] {
            if text.is_empty() {
                return Err(FrontmatterError::Missing { key });
            }
        }
        let chars = description.chars().count();
        if chars > MAX_FRONTMATTER_DESCRIPTION_CHARS {
            return Err(FrontmatterError::Long { chars });
        }
        let others = entries.iter().filter(|entry| !matches!(entry.key, "name" | "description"));
        let more = others.filter_map(|entry| Some((entry.key.to_owned(), entry.plain()?))).collect();
        Ok(Self { name, description, more })
    }
}

fn parse_entries(text: &str) -> Result<Vec<FrontmatterEntry<'_>>, FrontmatterError> {
    let mut lines = text.lines().zip(1..).skip_while(|(line, _)| line.trim().is_empty()).peekable();
    // Editors that show skills keep them within a fence.
    lines.next_if(|(line, _)| line.starts_with("```") && line.trim_start_matches('`').trim() == "skill");
    if lines.next().is_none_or(|(line, _)| line.trim_end() != "---") {
        return Err(FrontmatterError::Absent);
    }
    let mut entries: Vec<FrontmatterEntry<'_>> = Vec::new();
    let mut bytes = 0;
    for (line, number) in lines {
        bytes += line.len() + 1;
        if bytes > MAX_FRONTMATTER_BYTES {
            break;
        }
        if line.trim_end() == "---" {
            return Ok(entries);
        }
        let belongs = line.trim().is_empty() || line.starts_with([' ', '\t', '-', '#']);
        match entries.last_mut() {
            Some(last) if belongs => last.below.push(line),
            None if line.trim().is_empty() || line.starts_with('#') => {}
            _ => {
                let entry = parse_key(line, number)?;
                if entries.iter().any(|known| known.key == entry.key) {
                    return Err(FrontmatterError::Twice { line: number });
                }
                entries.push(entry);
            }
        }
    }
    Err(FrontmatterError::Endless)
}

fn parse_key(line: &str, number: usize) -> Result<FrontmatterEntry<'_>, FrontmatterError> {
    let no_key = FrontmatterError::NoKey { line: number };
    let (key, value) = line.split_once(':').ok_or_else(|| no_key.clone())?;
    let is_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if key.is_empty() || !key.bytes().all(is_key) || !(value.is_empty() || value.starts_with([' ', '\t'])) {
        return Err(no_key);
    }
    Ok(FrontmatterEntry { key, line: number, value: value.trim(), below: Vec::new() })
}

impl FrontmatterEntry<'_> {
    /// The value if it is on one line, with the type of YAML's core schema.
    fn plain(&self) -> Option<Value> {
        if self.value.is_empty()
            || self.below.iter().any(|line| !line.trim().is_empty() && !line.starts_with('#'))
        {
            return None;
        }
        let text = self.text().ok()?;
        if self.value.starts_with(['"', '\'']) {
            return Some(Value::String(text));
        }
        Some(match text.as_str() {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "Null" | "NULL" | "~" => Value::Null,
            number if number.parse::<i64>().is_ok() => number.parse::<i64>().map_or(Value::Null, Value::from),
            number if number.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) => {
                number.parse::<f64>().map_or_else(|_| Value::from(number), Value::from)
            }
            text => Value::from(text),
        })
    }

    fn text(&self) -> Result<String, FrontmatterError> {
        let not_plain = || FrontmatterError::NotPlain { line: self.line };
        let below = || self.below.iter().filter(|line| !line.starts_with('#')).map(|line| line.trim());
        if self.value.starts_with(['|', '>']) {
            let header = self.value.split(" #").next().unwrap_or_default();
            let known = header[1..].trim_end().bytes().all(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9'));
            return if known { Ok(below().collect::<Vec<_>>().join(" ")) } else { Err(not_plain()) };
        }
        let whole = std::iter::once(self.value).chain(below()).collect::<Vec<_>>().join(" ");
        let whole = whole.trim();
        match whole.as_bytes().first() {
            Some(b'"') => {
                let end = closing(whole, '"').ok_or_else(not_plain)?;
                // JSON's escapes are those of YAML for everyday use.
                serde_json::from_str(&whole[..=end]).map_err(|_| not_plain())
            }
            Some(b'\'') => {
                let end = closing(whole, '\'').ok_or_else(not_plain)?;
                Ok(whole[1..end].replace("''", "'"))
            }
            Some(b'&' | b'*' | b'!' | b'%' | b'@' | b'`' | b'{' | b'[') => Err(not_plain()),
            _ => Ok(whole.split(" #").next().unwrap_or_default().trim_end().to_owned()),
        }
    }
}

/// The position of the quote that closes the one at the start. Only a comment may follow it.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character == '\\' && quote == '"' {
            characters.next();
        } else if character == quote {
            if quote == '\'' && characters.next_if(|(_, next)| *next == '\'').is_some() {
                continue;
            }
            let rest = text[at + 1..].trim_start();
            return (rest.is_empty() || rest.starts_with('#')).then_some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(head: &str) -> Result<String, FrontmatterError> {
        Frontmatter::parse(&format!("---\nname: a\n{head}\n---\ntext\n")).map(|read| read.description)
    }

    #[test]
    fn frontmatter_scalar_styles_are_parsed() {
        for (head, expected) in [
            ("description: plain text # a remark", "plain text"),
            ("description: Use when: it is so", "Use when: it is so"),
            ("description:\n  over two\n  lines", "over two lines"),
            ("description: begun\n  and continued", "begun and continued"),
            ("description: >-\n  folded\n  text\n\n  on", "folded text on"),
            ("description: |\n  kept\n  lines", "kept lines"),
            ("description: \"with \\\"quotes\\\" and \\u00e9\" # so", "with \"quotes\" and é"),
            ("description: 'it''s'", "it's"),
            ("allowed-tools:\n- a\n- b\nmetadata:\n  x: *y\ndescription: last", "last"),
        ] {
            assert_eq!(description(head).as_deref(), Ok(expected), "{head}");
        }
    }

    #[test]
    fn frontmatter_keeps_additional_plain_keys() {
        let text = "---\nname: a\ndescription: b\nlicense: MIT # so\nversion: 1.0\nlevel: 3\nquoted: '1.0'\nhidden: true\n\
                    tools: [a, b]\nlist:\n- a\ndated: 2026-01-02\n---\n";
        let read = Frontmatter::parse(text).unwrap();
        assert_eq!(
            Value::Object(read.more),
            serde_json::json!({
                "license": "MIT", "version": 1.0, "level": 3, "quoted": "1.0", "hidden": true, "dated": "2026-01-02",
            })
        );
    }

    #[test]
    fn frontmatter_inside_a_skill_fence_is_parsed() {
        let text = "```skill\n---\nname: tools\ndescription:\n  One\n  two.\n---\n\n# T\n```";
        let read = Frontmatter::parse(text).unwrap();
        assert_eq!((read.name.as_str(), read.description.as_str()), ("tools", "One two."));
    }

    #[test]
    fn unsupported_frontmatter_is_refused_with_line() {
        for head in [
            "description: *bomb",
            "description: &a text",
            "description: !!python/object x",
            "description: [a, b]",
            "description: {a: b}",
            "description: \"open",
            "description: 'open",
            "description: \"a\" b",
            "description: |x\n  y",
        ] {
            assert_eq!(description(head), Err(FrontmatterError::NotPlain { line: 3 }), "{head}");
        }
        assert_eq!(description("no key"), Err(FrontmatterError::NoKey { line: 3 }));
        assert_eq!(description("name: b"), Err(FrontmatterError::Twice { line: 3 }));
        assert_eq!(description("x: 1"), Err(FrontmatterError::Missing { key: "description" }));
        assert_eq!(description("description:"), Err(FrontmatterError::Missing { key: "description" }));
        let long = format!("description: {}", "x".repeat(1_025));
        assert_eq!(description(&long), Err(FrontmatterError::Long { chars: 1_025 }));
        assert_eq!(Frontmatter::parse("# Title\n"), Err(FrontmatterError::Absent));
        assert_eq!(Frontmatter::parse(""), Err(FrontmatterError::Absent));
        assert_eq!(Frontmatter::parse("---\nname: a\n"), Err(FrontmatterError::Endless));
        let bomb = format!("---\n{}---\n", "# filler\n".repeat(8_000));
        assert_eq!(Frontmatter::parse(&bomb), Err(FrontmatterError::Endless));
    }
}
