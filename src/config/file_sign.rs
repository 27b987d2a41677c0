//! Files of a project that decide the way in which a server may be started there.

use std::fs;
use std::path::Path;

use toml::{Table, Value};

use super::files::user_text;
use super::spec::FileSign;

impl FileSign {
    /// Describes the sign in `folder` ("`env` of `.cargo/config.toml`"). A file that exists and
    /// cannot be parsed may contain the sign, so it counts.
    pub fn found_in(&self, folder: &Path) -> Option<String> {
        let name = format!("`{}`", self.file);
        if let Some(ending) = self.file.strip_prefix('*') {
            let mut names =
                fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
            return names.any(|name| name.as_encoded_bytes().ends_with(ending.as_bytes())).then_some(name);
        }
        let text = match user_text(&folder.join(&self.file)) {
            Ok(None) => return None,
            Ok(Some(text)) if !self.keys.is_empty() || self.matches.is_some() => text,
            Ok(Some(_)) | Err(_) => return Some(name),
        };
        if let Some(pattern) = &self.matches {
            return pattern.is_in(&text).then_some(name);
        }
        let Ok(table) = toml::from_str::<Table>(&text) else {
            // The oldest form of some files is a lone word, which names no key.
            return (!is_lone_word(text.trim())).then_some(name);
        };
        let table = Value::Table(table);
        let key = self.keys.iter().find(|key| has(&table, &key.split('.').collect::<Vec<_>>()))?;
        Some(format!("`{key}` of {name}"))
    }
}

fn is_lone_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
}

fn has(value: &Value, path: &[&str]) -> bool {
    let Some((key, rest)) = path.split_first() else { return true };
    match value {
        Value::Table(table) if *key == "*" => table.values().any(|inner| has(inner, rest)),
        Value::Table(table) => table.get(*key).is_some_and(|inner| has(inner, rest)),
        Value::Array(items) => items.iter().any(|item| has(item, path)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(keys: &[&str], text: &str) -> Option<String> {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("f.toml"), text).unwrap();
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        FileSign { file: "f.toml".to_owned(), keys, matches: None }.found_in(temp.path())
    }

    #[test]
    fn file_sign_with_wildcard_matches_extension_case_sensitively() {
        let temp = tempfile::tempdir().unwrap();
        let sign: FileSign = toml::from_str("file = '*.F90'").unwrap();
        std::fs::write(temp.path().join("a.f90"), "").unwrap();
        assert_eq!(sign.found_in(temp.path()), None);
        std::fs::write(temp.path().join("b.F90"), "").unwrap();
        assert_eq!(sign.found_in(temp.path()), Some("`*.F90`".to_owned()));
    }

    #[test]
    fn file_sign_with_regex_matches_file_content() {
        let temp = tempfile::tempdir().unwrap();
        let sign: FileSign = toml::from_str("file = 'a.ini'\nmatches = '(?m)^run *='").unwrap();
        assert_eq!(sign.found_in(temp.path()), None);
        for (text, is_shown) in [("[a]\nrun = x\n", true), ("[a]\n# run = x\n", false), ("", false)] {
            std::fs::write(temp.path().join("a.ini"), text).unwrap();
            assert_eq!(sign.found_in(temp.path()).is_some(), is_shown, "{text}");
        }
    }

    #[test]
    fn file_sign_key_matches_through_wildcards_and_arrays() {
        assert_eq!(shown(&[], ""), Some("`f.toml`".to_owned()));
        assert_eq!(shown(&["a.b"], "[a]\nc = 1"), None);
        assert_eq!(shown(&["x", "a.b"], "a.b = 1"), Some("`a.b` of `f.toml`".to_owned()));
        assert_eq!(
            shown(&["a.*.b"], "[a.one]\nc = 1\n[a.two]\nb = 1"),
            Some("`a.*.b` of `f.toml`".to_owned())
        );
        assert_eq!(shown(&["a.b"], "[[a]]\nc = 1\n[[a]]\nb = 1"), Some("`a.b` of `f.toml`".to_owned()));
    }

    #[test]
    fn file_sign_with_key_matches_unparsable_toml() {
        assert_eq!(shown(&["a"], "stable\n"), None);
        assert_eq!(shown(&["a"], "../evil\n"), Some("`f.toml`".to_owned()));
        assert_eq!(shown(&["a"], "[a"), Some("`f.toml`".to_owned()));
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("f.toml")).unwrap();
        let sign = FileSign { file: "f.toml".to_owned(), keys: vec!["a".to_owned()], matches: None };
        assert_eq!(sign.found_in(temp.path()), Some("`f.toml`".to_owned()));
        let absent = FileSign { file: "absent/g.toml".to_owned(), keys: Vec::new(), matches: None };
        assert_eq!(absent.found_in(temp.path()), None);
    }
}
