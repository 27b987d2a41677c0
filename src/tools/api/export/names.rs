//! Translation of tool names to the letters that a format allows, and back.

use std::collections::BTreeMap;

use super::ToolListFormat;

/// The names of one exported list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExportedNames {
    format: ToolListFormat,
    /// Internal names by exported name.
    ours: BTreeMap<String, String>,
}

/// The longest name that all formats accept; MCP would accept twice as much.
const MAX_EXPORTED_NAME_BYTES: usize = 64;

impl ExportedNames {
    pub(super) fn new(format: ToolListFormat) -> Self {
        Self { format, ours: BTreeMap::new() }
    }

    /// The internal name of the tool with the exported name `theirs`.
    pub(crate) fn internal_name(&self, theirs: &str) -> Option<&str> {
        self.ours.get(theirs).map(String::as_str)
    }

    /// The exported name of the tool `ours`.
    pub(crate) fn exported_name(&self, ours: &str) -> Option<&str> {
        self.ours.iter().find(|(_, name)| *name == ours).map(|(theirs, _)| theirs.as_str())
    }

    /// Adds a name and returns its exported form: `/` becomes `.` for MCP and `__` elsewhere. If
    /// two names collide, the later one gets a number.
    pub(super) fn add(&mut self, ours: &str) -> String {
        let base = self.sanitize(ours);
        let mut theirs = cut(&base, MAX_EXPORTED_NAME_BYTES).to_owned();
        let mut number = 2;
        while self.ours.contains_key(&theirs) {
            let ending = format!("_{number}");
            theirs = format!("{}{ending}", cut(&base, MAX_EXPORTED_NAME_BYTES - ending.len()));
            number += 1;
        }
        self.ours.insert(theirs.clone(), ours.to_owned());
        theirs
    }

    fn sanitize(&self, ours: &str) -> String {
        let separator = if self.format == ToolListFormat::Mcp { "." } else { "__" };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let mut name = String::with_capacity(ours.len() + 1);
        for character in ours.chars() {
            match character {
                '/' => name.push_str(separator),
                other if plain(other) => name.push(other),
                _ => name.push('_'),
            }
        }
        // A Gemini name begins with a letter or `_`.
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert(0, '_');
        }
        name
    }
}

/// Truncates an ASCII name.
fn cut(name: &str, most: usize) -> &str {
    name.get(..most).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_tool_name_maps_back_to_original() {
        let ours = ["lsp_hover", "files/read", "files__read", "2fast", &"x".repeat(64), "a/b"];
        for format in ToolListFormat::ALL {
            let mut names = ExportedNames::new(format);
            for name in ours {
                let theirs = names.add(name);
                assert!(theirs.len() <= 64, "{theirs}");
                assert_eq!(names.internal_name(&theirs), Some(name));
                assert_eq!(names.exported_name(name), Some(theirs.as_str()));
            }
            assert_eq!(names.internal_name("nobody"), None);
        }
        let mut names = ExportedNames::new(ToolListFormat::OpenAi);
        assert_eq!(names.add("files/read"), "files__read");
        assert_eq!(names.add("files__read"), "files__read_2");
        let mut names = ExportedNames::new(ToolListFormat::Mcp);
        assert_eq!(names.add("files/read"), "files.read");
    }
}
