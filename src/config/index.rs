//! The index from a file's name to its language.

use std::collections::{BTreeMap, HashMap};

use super::spec::Language;

/// File names, extensions and interpreters, each with the key of its language.
#[derive(Debug, Clone)]
pub(super) struct LanguageIndex {
    filenames: HashMap<String, String>,
    /// From names that end in `.*`, without that ending.
    prefixes: HashMap<String, String>,
    /// From names with `.*.` in them: the part before, the part behind, and the language.
    between: Vec<(String, String, String)>,
    extensions: HashMap<String, String>,
    shebangs: HashMap<String, String>,
}

impl LanguageIndex {
    pub(super) fn new(languages: &BTreeMap<String, Language>) -> Self {
        let (mut filenames, mut prefixes) = (HashMap::new(), HashMap::new());
        let (mut extensions, mut shebangs) = (HashMap::new(), HashMap::new());
        let mut between = Vec::new();
        for (key, language) in languages {
            for name in &language.filenames {
                if let Some(prefix) = name.strip_suffix(".*") {
                    prefixes.insert(prefix.to_owned(), key.clone());
                } else if let Some((start, end)) = name.split_once(".*.") {
                    between.push((format!("{start}."), format!(".{end}"), key.clone()));
                } else {
                    filenames.insert(name.clone(), key.clone());
                }
            }
            extensions
                .extend(language.extensions.iter().map(|extension| (extension.to_lowercase(), key.clone())));
            shebangs.extend(language.shebangs.iter().map(|name| (name.clone(), key.clone())));
        }
        Self { filenames, prefixes, between, extensions, shebangs }
    }

    pub(super) fn language_of(&self, file_name: &str, first_line: Option<&str>) -> Option<&str> {
        self.filenames
            .get(file_name)
            .or_else(|| self.by_both_ends(file_name))
            .or_else(|| self.by_extension(file_name))
            .or_else(|| self.by_prefix(file_name))
            .or_else(|| self.by_shebang(first_line?))
            .map(String::as_str)
    }

    fn by_both_ends(&self, file_name: &str) -> Option<&String> {
        let fits = |(start, end, _): &&(String, String, String)| {
            file_name
                .strip_prefix(start.as_str())
                .is_some_and(|rest| rest.len() > end.len() && rest.ends_with(end.as_str()))
        };
        self.between.iter().find(fits).map(|(_, _, language)| language)
    }

    fn by_extension(&self, file_name: &str) -> Option<&String> {
        let name = file_name.to_lowercase();
        // A leading dot hides a file, it does not begin an extension.
        let dots = name.match_indices('.').map(|(at, _)| at).filter(|at| *at > 0);
        dots.into_iter().find_map(|dot| self.extensions.get(&name[dot + 1..]))
    }

    fn by_prefix(&self, file_name: &str) -> Option<&String> {
        let (prefix, _) = file_name.split_once('.')?;
        self.prefixes.get(prefix)
    }

    fn by_shebang(&self, first_line: &str) -> Option<&String> {
        let interpreter = interpreter(first_line)?;
        let versionless = interpreter
            .trim_end_matches(|digit: char| digit.is_ascii_digit() || digit == '.' || digit == '-');
        self.shebangs.get(interpreter).or_else(|| self.shebangs.get(versionless))
    }
}

/// The program that a `#!` line runs, looking through `env` with its options and assignments.
pub(crate) fn interpreter(first_line: &str) -> Option<&str> {
    let mut words = first_line.strip_prefix("#!")?.split_whitespace();
    let program = base_name(words.next()?);
    if program != "env" {
        return Some(program);
    }
    while let Some(word) = words.next() {
        if let Some(split) = word.strip_prefix("-S").or_else(|| word.strip_prefix("--split-string=")) {
            if !split.is_empty() {
                return Some(base_name(split));
            }
        } else if matches!(word, "-u" | "--unset" | "-C" | "--chdir" | "-a" | "--argv0") {
            words.next();
        } else if !word.starts_with('-') && !word.contains('=') {
            return Some(base_name(word));
        }
    }
    None
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shebang_interpreter_is_found_behind_env_and_path() {
        for (line, wanted) in [
            ("#!/bin/bash", Some("bash")),
            ("#! /bin/sh -e", Some("sh")),
            ("#!/usr/bin/env python3", Some("python3")),
            ("#!/usr/bin/env -S python3 -u", Some("python3")),
            ("#!/usr/bin/env -Spython3 -u", Some("python3")),
            ("#!/usr/bin/env -S LANG=C node --flag", Some("node")),
            ("#!/usr/bin/env -i -u HOME ruby", Some("ruby")),
            ("#!/usr/bin/env --split-string=/opt/bin/perl -w", Some("perl")),
            ("#!/usr/bin/env", None),
            ("#!", None),
            ("# !/bin/bash", None),
            ("", None),
        ] {
            assert_eq!(interpreter(line), wanted, "{line}");
        }
    }
}
