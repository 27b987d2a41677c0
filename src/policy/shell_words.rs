//! The words of shell commands, without their quotes.

use tree_sitter::Node;

/// A shell word, as far as its value is known before the command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShellWord {
    /// Exactly this text.
    Plain(String),
    /// Names of files that match this glob; it begins with plain text.
    Glob(String),
    /// This text in a disguising spelling (`r\m`, `$'\x72m'`, `~/rm`).
    Spelled(String),
    /// Known only at run time.
    Unknown,
}

impl ShellWord {
    /// The text of the word; `None` if only known at run time.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Plain(text) | Self::Glob(text) | Self::Spelled(text) => Some(text),
            Self::Unknown => None,
        }
    }
}

/// Parses the word at `node` of `text`.
pub(super) fn word(node: Node<'_>, text: &str) -> ShellWord {
    let raw = text.get(node.byte_range()).unwrap_or_default();
    match node.kind() {
        "word" => parse_bare(raw),
        "number" if node.child_count() == 0 => ShellWord::Plain(raw.to_owned()),
        "raw_string" => match raw.strip_prefix('\'').and_then(|raw| raw.strip_suffix('\'')) {
            Some(inner) => ShellWord::Plain(inner.to_owned()),
            None => ShellWord::Unknown,
        },
        "string" => parse_quoted(node, raw),
        "ansi_c_string" => match raw.strip_prefix("$'").and_then(|raw| raw.strip_suffix('\'')) {
            Some(inner) => ShellWord::Spelled(ansi_c(inner)),
            None => ShellWord::Unknown,
        },
        "concatenation" => parse_concatenated(node, text),
        _ => ShellWord::Unknown,
    }
}

/// Parses a word without quotes.
fn parse_bare(raw: &str) -> ShellWord {
    let mut out = String::with_capacity(raw.len());
    let (mut escaped, mut glob) = (false, None);
    let mut rest = raw.chars();
    while let Some(character) = rest.next() {
        match character {
            // `~` expands to a home folder at run time.
            '~' if out.is_empty() || out.ends_with(['=', ':']) => escaped = true,
            '\\' => {
                escaped = true;
                out.extend(rest.next());
                continue;
            }
            '*' | '?' | '[' if glob.is_none() => glob = Some(out.len()),
            // The shell expands these to any number of words.
            '{' | '}' | '$' | '`' | '"' | '\'' | '(' | ')' | '<' | '>' | '|' | '&' | ';' => {
                return ShellWord::Unknown;
            }
            _ => {}
        }
        out.push(character);
    }
    match (escaped, glob) {
        (true, None) => ShellWord::Spelled(out),
        (false, None) => ShellWord::Plain(out),
        // A file may have any name, also one that looks like an option.
        (true, Some(_)) | (_, Some(0)) => ShellWord::Unknown,
        (false, Some(_)) => ShellWord::Glob(out),
    }
}

/// Parses a word in double quotes.
fn parse_quoted(node: Node<'_>, raw: &str) -> ShellWord {
    let whole = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
    let mut cursor = node.walk();
    let plain = node.named_children(&mut cursor).all(|part| part.kind() == "string_content");
    let Some(inner) = whole.filter(|_| plain) else { return ShellWord::Unknown };
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' if rest.peek().is_some_and(|next| matches!(next, '\\' | '"' | '$' | '`')) => {
                out.extend(rest.next());
            }
            '\\' if rest.peek() == Some(&'\n') => {
                rest.next();
            }
            // Unescaped: an expansion that the grammar did not recognize.
            '$' | '`' | '"' => return ShellWord::Unknown,
            other => out.push(other),
        }
    }
    ShellWord::Plain(out)
}

/// Parses several parts without a blank between them.
fn parse_concatenated(node: Node<'_>, text: &str) -> ShellWord {
    let mut out = String::new();
    let (mut spelled, mut glob, mut at) = (false, false, node.start_byte());
    let mut cursor = node.walk();
    for part in node.children(&mut cursor) {
        if part.start_byte() != at {
            return ShellWord::Unknown;
        }
        at = part.end_byte();
        match word(part, text) {
            ShellWord::Plain(part) => out.push_str(&part),
            ShellWord::Glob(part) => {
                glob = true;
                out.push_str(&part);
            }
            ShellWord::Spelled(part) => {
                spelled = true;
                out.push_str(&part);
            }
            ShellWord::Unknown => return ShellWord::Unknown,
        }
    }
    match (spelled, glob) {
        (false, false) => ShellWord::Plain(out),
        (true, false) => ShellWord::Spelled(out),
        (false, true) => ShellWord::Glob(out),
        (true, true) => ShellWord::Unknown,
    }
}

/// Decodes the contents of `$'…'` as bash does.
fn ansi_c(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        let Some(escape) = rest.next() else { break };
        let (radix, most) = match escape {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => (8, 2),
            'n' | 'r' | 't' | 'v' | 'f' => {
                out.push(' ');
                continue;
            }
            other => {
                out.push(other);
                continue;
            }
        };
        let mut value = if radix == 8 { escape.to_digit(8).unwrap_or_default() } else { 0 };
        for _ in 0..most {
            let Some(digit) = rest.peek().and_then(|next| next.to_digit(radix)) else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            rest.next();
        }
        out.extend(char::from_u32(value));
    }
    out
}

/// The words of a text that could not be parsed, split wherever a command could begin. It is only
/// for `deny` rules, since it treats quoted text as commands too.
pub(super) fn loose_commands(text: &str) -> Vec<Vec<String>> {
    let plain: String = text.chars().filter(|character| !matches!(character, '\'' | '"' | '\\')).collect();
    plain
        .split([';', '|', '&', '\n', '\r', '(', ')', '{', '}', '<', '>', '`', '$'])
        .map(|part| part.split([' ', '\t', ',']).filter(|word| !word.is_empty()).map(str::to_owned).collect())
        .filter(|words: &Vec<String>| !words.is_empty())
        .collect()
}
