//! A question about a place that no server answered, with what is needed to answer it from the text.

use super::answer::ServerStatus;
use super::context::LanguageFile;
use super::resolved_position::ResolvedPosition;

/// The question.
#[derive(Debug)]
pub(crate) struct UnansweredQuestion {
    /// The file.
    pub subject: LanguageFile,
    /// What was asked about.
    pub place: ResolvedPosition,
    /// Why not.
    pub status: ServerStatus,
}
