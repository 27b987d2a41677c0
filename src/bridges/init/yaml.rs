//! Inserting and removing one entry in a YAML text, line by line.
//!
//! Only mappings in block style are changed, and all other lines keep their bytes.

use std::ops::Range;

use super::InitError;
use super::entry::HostConfigEntry;
use super::file::with_line_end;

/// Characters that surround or separate the words of a value.
const YAML_PUNCTUATION: [char; 9] = [' ', '\t', ',', '[', ']', '{', '}', '"', '\''];

/// Like [`super::edit::insert_entry`], for YAML.
pub(super) fn put_yaml(
    file: &str,
    text: Option<&str>,
    entry: &HostConfigEntry,
    force: bool,
) -> Result<String, InitError> {
    let text = text.unwrap_or_default();
    let unreadable = |reason: String| InitError::Unreadable { file: file.to_owned(), format: "YAML", reason };
    let no_mapping = |key: &str| unreadable(format!("{key} is not a mapping in block style"));
    let [outer, name] = entry.path.as_slice() else { return Err(no_mapping("the entry")) };
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut content = lines.iter().filter(|line| is_content(line)).peekable();
    content.next_if(|line| line.trim_end() == "---");
    if content.peek().is_some_and(|line| key_and_value(line).is_none() || indent_of(line) > 0) {
        return Err(no_mapping("the whole of it"));
    }
    if text.starts_with('\u{feff}') || content.any(|line| line.starts_with("---") || line.starts_with("..."))
    {
        return Err(unreadable("it has several documents, or a byte order mark".to_owned()));
    }
    let Some(around) = lines_of_key(&lines, 0..lines.len(), 0, outer) else {
        let before = if text.is_empty() { String::new() } else { with_line_end(text.to_owned()) };
        return Ok(format!("{before}{outer}:\n{}", block_of(entry, name, 2)));
    };
    let value = key_and_value(lines[around.start]).map(|(_, value)| value).unwrap_or_default();
    let inner = around.start + 1..around.end;
    let first = lines[inner.clone()].iter().find(|line| is_content(line));
    let indent = first.map(|line| key_and_value(line).map_or(0, |_| indent_of(line)));
    let (replaced, ours) = match (value, indent) {
        ("", Some(indent @ 1..)) => {
            let ours = block_of(entry, name, indent);
            let Some(known) = lines_of_key(&lines, inner, indent, name) else {
                return Ok(spliced(lines, around.end..around.end, &ours));
            };
            let old = lines[known.clone()].concat();
            if words_of(&old) == words_of(&ours) {
                return Ok(text.to_owned());
            }
            if !force {
                return Err(entry.conflict(file, Some(&old.into())));
            }
            (known, ours)
        }
        ("", None) if around.len() > 1 => {
            return Ok(spliced(lines, around.end..around.end, &block_of(entry, name, 2)));
        }
        ("" | "{}" | "null" | "~", None) => (around, format!("{outer}:\n{}", block_of(entry, name, 2))),
        _ => return Err(no_mapping(&format!("`{outer}`"))),
    };
    lines.splice(replaced, [ours.as_str()]);
    Ok(with_line_end(lines.concat()))
}

/// Like [`super::edit::remove_entry`], for YAML.
pub(super) fn remove_yaml(text: &str, path: &[String]) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some((around, own)) = entry_in(&lines, path) else { return text.to_owned() };
    let is_blank = |line: &&str| line.trim().is_empty();
    let mut others = lines[around.start + 1..own.start].iter().chain(&lines[own.end..around.end]);
    let is_alone = others.all(is_blank);
    lines.drain(if is_alone { around } else { own });
    lines.concat()
}

/// Returns true if the text has an entry at `path`.
pub(super) fn has_yaml_entry(text: &str, path: &[String]) -> bool {
    entry_in(&text.split_inclusive('\n').collect::<Vec<_>>(), path).is_some()
}

/// The lines of the mapping around an entry, and those of the entry.
fn entry_in(lines: &[&str], path: &[String]) -> Option<(Range<usize>, Range<usize>)> {
    let [outer, name] = path else { return None };
    let around = lines_of_key(lines, 0..lines.len(), 0, outer)?;
    let inner = around.start + 1..around.end;
    let indent = indent_of(lines[inner.clone()].iter().find(|line| is_content(line))?);
    let own = lines_of_key(lines, inner, indent, name)?;
    Some((around, own))
}

/// The lines of `key` and its value in a mapping with this indent, up to its last line of content.
fn lines_of_key(lines: &[&str], within: Range<usize>, indent: usize, key: &str) -> Option<Range<usize>> {
    let is_key = |line: &str| {
        is_content(line)
            && indent_of(line) == indent
            && key_and_value(line).is_some_and(|(found, _)| found.trim_matches(['"', '\'']) == key)
    };
    let start = within.clone().find(|index| is_key(lines[*index]))?;
    // The items of a list may have the indent of its key.
    let is_inside =
        |line: &str| indent_of(line) > indent || indent_of(line) == indent && line.trim().starts_with('-');
    // A comment that is indented deeper may be text of a block scalar.
    let counts = |line: &str| is_content(line) || !line.trim().is_empty() && indent_of(line) > indent;
    let content = (start + 1..within.end).filter(|index| counts(lines[*index]));
    let last = content.take_while(|index| is_inside(lines[*index])).last();
    Some(start..last.unwrap_or(start) + 1)
}

/// `lines` with `ours` in the place of some of them.
fn spliced(lines: Vec<&str>, place: Range<usize>, ours: &str) -> String {
    let before = with_line_end(lines[..place.start].concat());
    format!("{before}{ours}{}", lines[place.end..].concat())
}

/// The lines of an entry: a member on each, with its value in JSON, which YAML includes.
fn block_of(entry: &HostConfigEntry, name: &str, indent: usize) -> String {
    let members = entry.value.as_object().into_iter().flatten();
    let head = format!("{:indent$}{name}:\n", "");
    members.fold(head, |block, (key, value)| format!("{block}{:1$}{key}: {value}\n", "", indent + 2))
}

/// The words of an entry in any order and style, since hosts rewrite their files.
fn words_of(block: &str) -> Vec<&str> {
    let items = block.lines().map(|line| line.trim_start().trim_start_matches("- "));
    let mut words: Vec<&str> =
        items.flat_map(|line| line.split(YAML_PUNCTUATION)).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words
}

/// The key of a line and its value without a comment, if the line begins a member of a mapping.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim().split_once(':')?;
    let is_plain = !key.starts_with(['-', '[', '{', '&', '*', '?']);
    let is_value = value.is_empty() || value.starts_with(' ');
    let value = value.split_once(" #").map_or(value, |(value, _)| value).trim();
    (is_plain && is_value).then_some((key.trim_end(), value))
}

fn is_content(line: &str) -> bool {
    !matches!(line.trim_start().chars().next(), None | Some('#'))
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path() -> Vec<String> {
        ["extensions", "lsp-tools"].map(str::to_owned).to_vec()
    }

    fn entry() -> HostConfigEntry {
        let value =
            json!({"enabled": true, "cmd": "/usr/bin/lsp tools: x", "args": ["mcp", "true"], "timeout": 300});
        HostConfigEntry { path: path(), value }
    }

    const OURS: &str = r#"  lsp-tools:
    enabled: true
    cmd: "/usr/bin/lsp tools: x"
    args: ["mcp","true"]
    timeout: 300
"#;

    fn put(text: &str, force: bool) -> Result<String, InitError> {
        put_yaml("f", Some(text), &entry(), force)
    }

    #[test]
    fn yaml_host_file_keeps_comments_and_other_entries() {
        let others = "# mine\nGOOSE_MODE: auto # best\nextensions:\n  developer:\n    type: builtin\n  memory: {type: builtin}\n";
        let tail = "\n# the end\nz: 1\n";
        let after = put(&format!("{others}{tail}"), false).unwrap();
        assert_eq!(after, format!("{others}{OURS}{tail}"));
        assert_eq!(put(&after, false).unwrap(), after);
        assert!(has_yaml_entry(&after, &path()) && !has_yaml_entry(others, &path()));
        assert_eq!(remove_yaml(&after, &path()), format!("{others}{tail}"));
        assert_eq!(remove_yaml(others, &path()), others);
    }

    #[test]
    fn yaml_entry_that_host_has_written_anew_is_the_same() {
        let anew = "extensions:\n  lsp-tools:\n    args:\n    - mcp\n    - 'true'\n    cmd: '/usr/bin/lsp tools: x'\n    enabled: true\n    timeout: 300\n  memory:\n    type: builtin\n";
        assert_eq!(put(anew, false).unwrap(), anew);
        assert_eq!(remove_yaml(anew, &path()), "extensions:\n  memory:\n    type: builtin\n");
    }

    #[test]
    fn yaml_host_file_without_extensions_gets_them() {
        for (before, head) in [
            ("", ""),
            ("# mine\n", "# mine\n"),
            ("# mine", "# mine\n"),
            ("a: 1\n", "a: 1\n"),
            ("a: 1", "a: 1\n"),
            ("# mine\n---\na: 1\n", "# mine\n---\na: 1\n"),
            ("a: 1\nextensions: {}\n", "a: 1\n"),
            ("a: 1\nextensions:\n", "a: 1\n"),
        ] {
            let after = put(before, false).unwrap();
            assert_eq!(after, format!("{head}extensions:\n{OURS}"), "{before:?}");
            assert_eq!(remove_yaml(&after, &path()), head);
        }
        assert_eq!(put_yaml("f", None, &entry(), false).unwrap(), format!("extensions:\n{OURS}"));
    }

    #[test]
    fn yaml_comments_and_block_scalars_stay_where_they_are() {
        let script = "extensions:\n  own:\n    code: |\n      print(1)\n      # done\n# end\n";
        let after = put(script, false).unwrap();
        assert_eq!(after, script.replace("# end\n", &format!("{OURS}# end\n")));
        assert_eq!(remove_yaml(&after, &path()), script);
        let kept = "extensions:\n  # memory:\n  #   type: builtin\n";
        assert_eq!(put(kept, false).unwrap(), format!("{kept}{OURS}"));
        assert_eq!(remove_yaml(&format!("{kept}{OURS}"), &path()), kept);
    }

    #[test]
    fn yaml_host_file_of_another_shape_is_refused() {
        for bad in [
            "- 1\n",
            "[a, 1]\n",
            "  a: 1\n",
            "extensions: 1\n",
            "extensions:\n- developer\n",
            "extensions:\n  - developer\n",
            "extensions:\n  {developer: {type: builtin}}\n",
            "a: 1\n---\nb: 2\n",
            "a: 1\n...\n",
            "\u{feff}extensions:\n  a:\n    b: 1\n",
        ] {
            assert!(matches!(put(bad, true), Err(InitError::Unreadable { .. })), "{bad}");
        }
        let other = format!("extensions:\n{}", OURS.replace("300", "10"));
        let error = put(&other, false).unwrap_err();
        assert!(error.to_string().contains("+  \"timeout\": 300"), "{error}");
        assert_eq!(put(&other, true).unwrap(), format!("extensions:\n{OURS}"));
    }
}
