//! Families of languages that use each other's files.

use crate::config::Catalogue;

const FAMILIES: [&[&str]; 5] = [
    &["javascript", "typescript", "vue", "svelte", "astro"],
    &["c", "cpp", "objective-c", "objective-cpp", "cuda", "hip", "opencl"],
    &["java", "kotlin", "scala", "groovy"],
    &["css", "scss", "less"],
    &["haskell", "purescript"],
];

/// Returns the keys of the languages whose files may define symbols that a file of `language` uses,
/// itself first.
pub(crate) fn related_languages(language: &str) -> Vec<&str> {
    let family = FAMILIES.iter().find(|family| family.contains(&language));
    let others =
        family.into_iter().flat_map(|family| family.iter().copied()).filter(|other| *other != language);
    std::iter::once(language).chain(others).collect()
}

/// Returns the extensions of the files of all those languages, "" if scripts without any are among
/// them. Empty if the language has whole names only, and all files count.
pub(super) fn extensions(catalogue: &Catalogue, language: &str) -> Vec<String> {
    let own = catalogue.languages.get(language);
    if own.is_none_or(|own| own.extensions.is_empty()) {
        return Vec::new();
    }
    let keys = related_languages(language);
    let languages = keys.iter().filter_map(|key| catalogue.languages.get(*key));
    // For `d.ts` the search compares only the part behind the last dot.
    let last = |ending: &str| ending.rsplit('.').next().unwrap_or(ending).to_owned();
    let mut found: Vec<String> = languages.flat_map(|language| language.endings().map(last)).collect();
    found.sort();
    found.dedup();
    found
}
