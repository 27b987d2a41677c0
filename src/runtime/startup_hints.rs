//! Hints shown at the start, such as servers to install.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Runtime;
use crate::analysis::context::LanguageFile;
use crate::config::PresentLanguage;
use crate::lsp::servers::install_advice::SpokenLanguage;
use crate::syntax;
use crate::tools::language::servers;

/// The lifetime of the cached list of workspace languages. Detecting them walks the workspace, and
/// clients of a shared runtime ask with every command.
const WORKSPACE_LANGUAGES_TTL: Duration = Duration::from_secs(60);

/// The number of languages whose servers are started when a client connects.
const MAX_STARTED_LANGUAGES: usize = 3;
/// The servers of a language start if at least one file in this many is in it.
const MAIN_LANGUAGE_SHARE: usize = 10;

/// The subject of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AskedAbout {
    /// The whole workspace.
    Workspace,
    /// A name. It most likely belongs to the language with the most files among those that define
    /// names.
    Name,
    /// These files and folders.
    Paths(Vec<PathBuf>),
}

impl Runtime {
    /// Returns one line for each language of the workspace whose server is missing, and one for
    /// each ignored project setting. Reads the disk, which takes seconds in a large workspace.
    pub fn startup_hints(&self) -> Vec<String> {
        self.startup_hints_in(SpokenLanguage::from_environment())
    }

    /// Like [`startup_hints`](Self::startup_hints), in the language of a client with another
    /// environment. A language added within the last minute may be missing; a newly installed
    /// server counts at once.
    pub(crate) fn startup_hints_in(&self, locale: SpokenLanguage) -> Vec<String> {
        servers::startup_hints(&self.context, self.languages(), locale)
    }

    /// Like [`startup_hints_in`](Self::startup_hints_in), for the languages that a question
    /// concerns.
    pub(crate) fn startup_hints_about(&self, about: &AskedAbout, locale: SpokenLanguage) -> Vec<String> {
        let mut languages = Vec::new();
        match about {
            AskedAbout::Workspace => languages = self.languages(),
            AskedAbout::Name => {
                let named = |language: &PresentLanguage| syntax::has_grammar(&language.language);
                languages.extend(self.languages().into_iter().find(named));
            }
            AskedAbout::Paths(paths) => {
                paths.iter().for_each(|path| languages.extend(self.languages_of(path)))
            }
        }
        servers::startup_hints(&self.context, languages, locale)
    }

    /// Starts the servers of the workspace's main languages in the background. Reads the disk.
    pub(crate) fn start_servers(&self) {
        let languages = self.languages();
        let files: usize = languages.iter().map(|language| language.files).sum();
        let is_main = |language: &&PresentLanguage| {
            syntax::has_grammar(&language.language) && language.files * MAIN_LANGUAGE_SHARE >= files
        };
        for language in languages.iter().filter(is_main).take(MAX_STARTED_LANGUAGES) {
            self.context.start_servers_for(&LanguageFile::from(language.clone()));
        }
    }

    /// Returns the languages of a file or folder as spelled by the caller. Returns none for an
    /// invalid path; the answer reports the reason.
    fn languages_of(&self, given: &Path) -> Vec<PresentLanguage> {
        let Ok(path) = self.context.path(given) else { return Vec::new() };
        if self.context.workspace.absolute(&path).is_dir() {
            return if path.is_root() { self.languages() } else { self.context.languages_in(&path) };
        }
        let language = self.context.language_file_unchecked(path).ok().and_then(|subject| {
            let LanguageFile { path: example, language } = subject;
            Some(PresentLanguage { language: language?, files: 1, example, is_secondary: false })
        });
        language.into_iter().collect()
    }

    fn languages(&self) -> Vec<PresentLanguage> {
        let known = self.languages.lock().clone();
        if let Some((found, languages)) = known
            && found.elapsed() < WORKSPACE_LANGUAGES_TTL
        {
            return languages;
        }
        let languages = self.context.present_languages();
        let known = Some((Instant::now(), languages.clone()));
        *self.languages.lock() = known;
        languages
    }
}
