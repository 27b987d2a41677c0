//! What users of the workspace are told at the start.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Runtime;
use crate::config::PresentLanguage;
use crate::hints::Speech;
use crate::tools::servers;

/// For so long the languages of the workspace are taken for known: finding them is a walk through it, and a runtime that is
/// shared is asked with every command.
const KNOWN: Duration = Duration::from_secs(60);

/// The languages of the workspace, and when they were found.
pub(super) type Languages = Arc<Mutex<Option<(Instant, Vec<PresentLanguage>)>>>;

impl Runtime {
    /// One line for each language here whose server is missing, and for what the project says that does not count. Looks at
    /// the disk, for seconds in a large workspace.
    pub fn startup_hints(&self) -> Vec<String> {
        self.startup_hints_in(Speech::from_environment())
    }

    /// As [`startup_hints`](Self::startup_hints), in the language of someone whose environment is not ours. A language that
    /// has come into the workspace within the last minute may be left out; a server that was installed is known at once.
    pub fn startup_hints_in(&self, speech: Speech) -> Vec<String> {
        servers::startup_hints(&self.context, self.languages(), speech)
    }

    fn languages(&self) -> Vec<PresentLanguage> {
        let known = self.languages.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((found, languages)) = known
            && found.elapsed() < KNOWN
        {
            return languages;
        }
        let languages = self.context.present_languages();
        let known = Some((Instant::now(), languages.clone()));
        *self.languages.lock().unwrap_or_else(PoisonError::into_inner) = known;
        languages
    }
}
