//! Languages that use each other's files.

use crate::config::Catalogue;
use crate::config::spec::Language;

const FAMILIES: [&[&str]; 5] = [
    &["javascript", "typescript", "vue", "svelte"],
    &["c", "cpp", "objective-c", "objective-cpp", "cuda", "hip", "opencl"],
    &["java", "kotlin", "scala", "groovy"],
    &["css", "scss", "less"],
    &["haskell", "purescript"],
];

/// The keys of the languages whose files may define what a file of `language` uses, itself first.
pub fn members(language: &str) -> Vec<&str> {
    let family = FAMILIES.iter().find(|family| family.contains(&language));
    let others =
        family.into_iter().flat_map(|family| family.iter().copied()).filter(|other| *other != language);
    std::iter::once(language).chain(others).collect()
}

/// The extensions of the files of all those languages, "" where scripts without any are among them; empty where the language has whole
/// names only, and all files count.
pub fn extensions(catalogue: &Catalogue, language: &str) -> Vec<String> {
    let own = catalogue.languages.get(language);
    if own.is_none_or(|own| own.extensions.is_empty()) {
        return Vec::new();
    }
    let keys = members(language);
    let languages = keys.iter().filter_map(|key| catalogue.languages.get(*key));
    // Of `d.ts` the search compares only what follows the last dot.
    let ending = |extension: &String| extension.rsplit('.').next().unwrap_or(extension).to_owned();
    let of_language = |language: &Language| {
        let bare = (!language.shebangs.is_empty()).then(String::new);
        language.extensions.iter().map(ending).chain(bare).collect::<Vec<_>>()
    };
    let mut found: Vec<String> = languages.flat_map(of_language).collect();
    found.sort();
    found.dedup();
    found
}
