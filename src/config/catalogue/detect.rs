//! Detection of the languages in a workspace.

use std::collections::{BTreeMap, BTreeSet};

use crate::workspace::{WalkLimits, Workspace, WorkspacePath};

use super::Catalogue;

/// The maximum number of files without an extension that are opened for their first line.
const MOST_FIRST_LINES: usize = 200;
/// The longest first line that tells a language, in bytes. Linux reads as many.
const MAX_FIRST_LINE_BYTES: usize = 256;

/// The languages of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LanguageDetection {
    /// The language with the most files first.
    pub(crate) languages: Vec<PresentLanguage>,
    /// True if a limit ended the walk before all files were seen.
    pub(crate) truncated: bool,
}

/// One language of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PresentLanguage {
    /// Its key in the catalogue.
    pub(crate) language: String,
    /// The number of its files that were seen.
    pub(crate) files: usize,
    /// One of them: the one nearest to the root, the first by name among equals.
    pub(crate) example: WorkspacePath,
    /// True if the project is written in other languages.
    pub(crate) is_secondary: bool,
}

/// A primary language has one file, or more, for this many of the language with the most.
const PRIMARY_LANGUAGE_SHARE: usize = 4;

/// The languages that a set of files is written in, without those of data, prose and build files.
///
/// A language is primary if it has at least a quarter as many files as the most frequent one, or
/// if settings name its servers. Languages of data, and those that build or set up other code, are
/// primary only if there are no others.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrimaryLanguages(BTreeSet<String>);

impl PrimaryLanguages {
    /// The primary languages of files, given by their languages.
    pub(crate) fn of_files<'a>(catalogue: &Catalogue, files: impl Iterator<Item = &'a str>) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        files.for_each(|language| *counts.entry(language).or_default() += 1);
        Self::of_counts(catalogue, counts.into_iter())
    }

    fn of_counts<'a>(catalogue: &Catalogue, counts: impl Iterator<Item = (&'a str, usize)>) -> Self {
        let counts: Vec<(&str, usize)> = counts.collect();
        let is_code = |language: &str| {
            catalogue.languages.get(language).is_none_or(|known| !known.data && !known.support)
        };
        let is_fixed = |language: &str| catalogue.languages.get(language).is_some_and(|known| known.fixed);
        let most = counts.iter().filter(|(language, _)| is_code(language)).map(|(_, files)| *files).max();
        let is_primary = |(language, files): &(&str, usize)| {
            let has_share = |most| is_code(language) && files * PRIMARY_LANGUAGE_SHARE >= most;
            most.is_none_or(has_share) || is_fixed(language)
        };
        Self(counts.into_iter().filter(is_primary).map(|(language, _)| language.to_owned()).collect())
    }

    /// Returns true if `language` is a primary language.
    pub(crate) fn has(&self, language: &str) -> bool {
        self.0.contains(language)
    }
}

/// Returns the languages of the files in a folder of `workspace`, without ignored files, within
/// `limits`. Of files without an extension, the first 200 are opened for their first line.
pub(crate) fn present_languages(
    catalogue: &Catalogue,
    workspace: &Workspace,
    folder: &WorkspacePath,
    limits: &WalkLimits,
) -> LanguageDetection {
    let walk = workspace.files(folder, limits);
    let mut first_lines_left = MOST_FIRST_LINES;
    let mut found: BTreeMap<&str, (usize, WorkspacePath)> = BTreeMap::new();
    for path in walk.files {
        if catalogue.needs_first_line(&path.name_lossy()) {
            if first_lines_left == 0 {
                continue;
            }
            first_lines_left -= 1;
        }
        let Some(language) = catalogue.language_of_file(workspace, &path) else { continue };
        let (files, example) = found.entry(language).or_insert_with(|| (0, path.clone()));
        *files += 1;
        if depth(&path) < depth(example) {
            *example = path;
        }
    }
    let counts = found.iter().map(|(language, (files, _))| (*language, *files));
    let primary = PrimaryLanguages::of_counts(catalogue, counts);
    let mut languages = found
        .into_iter()
        .map(|(language, (files, example))| PresentLanguage {
            language: language.to_owned(),
            files,
            example,
            is_secondary: !primary.has(language),
        })
        .collect::<Vec<_>>();
    languages.sort_by_key(|language| std::cmp::Reverse(language.files));
    LanguageDetection { languages, truncated: walk.truncated }
}

impl Catalogue {
    /// The language of a file on disk, by its name or else by its first line.
    pub(crate) fn language_of_file(&self, workspace: &Workspace, path: &WorkspacePath) -> Option<&str> {
        let name = path.name_lossy();
        if !self.needs_first_line(&name) {
            return self.language_of(&name, None);
        }
        let (head, _) = workspace.read_head(path, MAX_FIRST_LINE_BYTES).ok()?;
        self.language_of(&name, String::from_utf8_lossy(&head).lines().next())
    }
}

fn depth(path: &WorkspacePath) -> usize {
    path.as_path().components().count()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, Instant};

    use super::*;

    fn limits(max_files: usize) -> WalkLimits {
        WalkLimits { max_files, deadline: Instant::now() + Duration::from_secs(20) }
    }

    fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let workspace = Workspace::open(folder.path()).unwrap();
        (folder, workspace)
    }

    #[test]
    fn present_languages_are_counted_with_example_near_root() {
        let (_folder, workspace) = workspace(&[
            ("deep/down/a.py", ""),
            ("z.py", ""),
            ("run", "#!/usr/bin/env bash\n"),
            ("LICENSE", "Permission is granted\n"),
            ("node_modules/x/index.js", ""),
            (".gitignore", "/out\n"),
            ("out/generated.go", ""),
        ]);
        let presence =
            present_languages(Catalogue::built_in(), &workspace, &WorkspacePath::root(), &limits(1_000));
        let seen = presence
            .languages
            .iter()
            .map(|present| (present.language.as_str(), present.files, present.example.display().to_string()))
            .collect::<Vec<_>>();
        assert_eq!(seen, [("python", 2, "z.py".to_owned()), ("shell", 1, "run".to_owned())]);
        assert!(!presence.truncated);
    }

    #[test]
    fn languages_of_data_builds_and_few_files_are_secondary_beside_code() {
        let primary = |counts: &[(&'static str, usize)]| {
            let files = counts.iter().flat_map(|(language, files)| std::iter::repeat_n(*language, *files));
            let primary = PrimaryLanguages::of_files(Catalogue::built_in(), files);
            counts
                .iter()
                .map(|(language, _)| *language)
                .filter(|language| primary.has(language))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            primary(&[("python", 1), ("json", 9), ("markdown", 30), ("make", 1), ("toml", 2)]),
            ["python"]
        );
        assert_eq!(primary(&[("python", 41), ("shell", 10), ("markdown", 25)]), ["python"]);
        assert_eq!(primary(&[("python", 40), ("shell", 10)]), ["python", "shell"], "a quarter");
        assert_eq!(primary(&[("html", 3), ("css", 1)]), ["html", "css"], "there is no code");
        assert_eq!(primary(&[("cmake", 2), ("markdown", 1)]), ["cmake", "markdown"]);
    }

    #[test]
    fn present_languages_over_file_limit_reports_truncation() {
        let (_folder, workspace) = workspace(&[("a.py", ""), ("b.py", ""), ("c.py", "")]);
        let presence =
            present_languages(Catalogue::built_in(), &workspace, &WorkspacePath::root(), &limits(2));
        assert_eq!((presence.languages[0].files, presence.truncated), (2, true));
    }

    #[test]
    fn shebang_detection_reads_a_bounded_number_of_files() {
        let names = (0..MOST_FIRST_LINES + 5).map(|number| format!("script{number:03}")).collect::<Vec<_>>();
        let files = names.iter().map(|name| (name.as_str(), "#!/bin/sh\n")).collect::<Vec<_>>();
        let (_folder, workspace) = workspace(&files);
        let presence =
            present_languages(Catalogue::built_in(), &workspace, &WorkspacePath::root(), &limits(1_000));
        assert_eq!(presence.languages[0].files, MOST_FIRST_LINES);
    }
}
