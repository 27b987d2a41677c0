//! A request about a place that no server answered, with the data to answer it from the text.

use super::resolved_position::ResolvedPosition;
use crate::analysis::answer::ServerStatus;
use crate::analysis::context::LanguageFile;

/// A request without a response.
#[derive(Debug)]
pub(crate) struct UnansweredQuestion {
    /// The file.
    pub subject: LanguageFile,
    /// The place of the request.
    pub place: ResolvedPosition,
    /// The reason: the status of the server.
    pub status: ServerStatus,
}
