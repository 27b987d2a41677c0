//! Signatures and documentation of definitions.

use super::resolution::definition::{DefinitionRole, SourceDefinition};
use super::resolution::source::ParsedSource;

/// The longest signature, in lines and in bytes.
const MAX_SIGNATURE_LINES: usize = 12;
const MAX_SIGNATURE_BYTES: usize = 1_000;

/// The longest documentation, in bytes.
const MAX_DOCUMENTATION_BYTES: usize = 8_000;

/// Returns the definition's first lines up to its body, on as few lines as it was written on.
pub(super) fn signature(source: &ParsedSource, definition: &SourceDefinition) -> Option<String> {
    let start = source.text[..definition.span.start].rfind('\n').map_or(0, |at| at + 1);
    let lead = &source.text[start..definition.span.start];
    // `pub`, `export` and similar words precede the node that is the definition.
    let start = if lead.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || c == '_') {
        start
    } else {
        definition.span.start
    };
    let whole = source.text.get(start..definition.span.end)?;
    let named = definition.selection.end.saturating_sub(start);
    let end = body_start(whole, named, definition.role);
    let signature = dedent(whole.get(..end)?.trim_matches('\n').trim_end());
    let signature = cut(&signature, MAX_SIGNATURE_BYTES);
    (!signature.is_empty()).then(|| signature.to_owned())
}

/// Returns the start of the body: the first `{`, `:` or line end behind the name outside brackets.
fn body_start(text: &str, name_end: usize, role: DefinitionRole) -> usize {
    let has_body = role.is_callable()
        || role.is_type()
        || matches!(role, DefinitionRole::Module | DefinitionRole::Extension);
    let (mut depth, mut lines) = (0_i32, 0);
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate().skip(name_end) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth <= 0 && has_body => return at,
            b';' if depth <= 0 => return at,
            b':' if depth <= 0
                && has_body
                && bytes.get(at + 1).is_none_or(|next| matches!(next, b'\n' | b'\r' | b' ')) =>
            {
                let rest = text[at + 1..].trim_start_matches(' ');
                if rest.is_empty() || rest.starts_with(['\n', '\r', '#']) {
                    return at;
                }
            }
            b'\n' => {
                lines += 1;
                if lines >= MAX_SIGNATURE_LINES || depth <= 0 && !has_body {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}

fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Removes from `text` the indentation that all its lines but the first share, and the first one's
/// own.
fn dedent(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let rest = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let shared = rest.map(indent).min().unwrap_or(0);
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or_default().trim_start().to_owned();
    for line in lines {
        out.push('\n');
        out.push_str(line.get(shared..).unwrap_or_else(|| line.trim_start()).trim_end());
    }
    out
}

/// The docstring, or the comment that stands directly above the definition.
pub(super) fn documentation(source: &ParsedSource, definition: &SourceDefinition) -> Option<String> {
    let text = if source.grammar.key == "python" { docstring(source, definition) } else { None };
    let text = text.or_else(|| comment_above(source, definition))?;
    let text = cut(text.trim(), MAX_DOCUMENTATION_BYTES);
    (!text.is_empty()).then(|| text.to_owned())
}

fn docstring(source: &ParsedSource, definition: &SourceDefinition) -> Option<String> {
    let node = source.node(&definition.span)?;
    let statement = node.child_by_field_name("body")?.named_child(0)?;
    let string =
        if statement.kind() == "expression_statement" { statement.named_child(0)? } else { statement };
    if string.kind() != "string" {
        return None;
    }
    let content = string.named_children(&mut string.walk()).find(|part| part.kind() == "string_content")?;
    Some(dedent(source.text_of(content).trim_start()))
}

const MARKERS: [&str; 8] = ["///", "//!", "//", "/**", "/*", "##", "#", "--"];

/// Returns the comment lines that end on the line above the definition (attributes and decorators
/// may be in between).
fn comment_above(source: &ParsedSource, definition: &SourceDefinition) -> Option<String> {
    let start = source.text[..definition.span.start].rfind('\n').map_or(0, |at| at + 1);
    let mut lines: Vec<&str> = Vec::new();
    let mut in_block = false;
    for line in source.text[..start].lines().rev().take(400) {
        let line = line.trim();
        if line.ends_with("*/") {
            in_block = true;
        }
        let is_attribute = lines.is_empty() && (line.starts_with("#[") || line.starts_with('@'));
        let is_comment = MARKERS.iter().any(|marker| line.starts_with(marker))
            && !line.starts_with("#[")
            && !line.starts_with("#include");
        if in_block {
            lines.push(line);
            in_block = !line.starts_with("/*");
            if !in_block {
                break;
            }
        } else if is_comment && !line.starts_with("#!") && !line.starts_with("#define") {
            lines.push(line);
        } else if !is_attribute {
            break;
        }
    }
    let text: Vec<&str> = lines.into_iter().rev().map(strip_comment_markers).collect();
    (!text.is_empty()).then(|| text.join("\n"))
}

/// A comment line without its markers.
fn strip_comment_markers(line: &str) -> &str {
    let line = line.strip_suffix("*/").unwrap_or(line);
    let line = MARKERS.iter().find_map(|marker| line.strip_prefix(marker)).unwrap_or(line);
    let line = line.strip_prefix('*').unwrap_or(line);
    line.strip_prefix(' ').unwrap_or(line).trim_end()
}
