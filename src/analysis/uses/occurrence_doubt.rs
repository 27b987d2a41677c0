//! The doubt that occurrences of a name in the text cast on the answers of servers.

use super::mergeable_answer::MergeableAnswer;
use super::other_roots;
use crate::syntax::{FurtherOccurrence, FurtherOccurrences, OccurrenceSense};

/// The reliability of a server's complete listing.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerCertainty {
    /// True if nothing shows that it has read the whole project.
    pub(super) is_unsure: bool,
    /// True if the project's settings exclude files from the server.
    pub(super) leaves_files_out: bool,
}

/// Returns true if the remaining occurrences in the text cast doubt on the servers' answer.
pub(super) fn is_doubtful(
    occurrences: &FurtherOccurrences,
    value: &impl MergeableAnswer,
    certainty: ServerCertainty,
    sense: OccurrenceSense,
) -> bool {
    if occurrences.files.iter().any(|file| file.imports) || !occurrences.notebooks.is_empty() {
        return true;
    }
    // A function that is stored as a value may be called without its name.
    if !occurrences.passed.is_empty() && value.has_no_other_places() {
        return true;
    }
    // A file that defines the name itself probably means its own definition, except for
    // implementations. Possible comments count only if the server may not have read the file.
    let may_be_meant = |file: &FurtherOccurrence| {
        (!file.unparsed || certainty.is_unsure) && (!file.defines || other_roots::concerns_types(sense))
    };
    let is_left = match occurrences.files.as_slice() {
        [] => occurrences.unread > 0 || occurrences.cut,
        files => files.iter().any(may_be_meant),
    };
    is_left && (value.has_no_other_places() || certainty.is_unsure || certainty.leaves_files_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::model::{FileRef, Location};
    use crate::text::{Position, Range};
    use crate::workspace::WorkspacePath;

    #[test]
    fn use_in_a_file_that_settings_leave_out_makes_answer_doubtful() {
        let path = |name: &str| WorkspacePath::root().join(name).unwrap();
        let place =
            |name: &str| Location { file: FileRef::Inside(path(name)), range: Range::default(), text: None };
        let value = vec![place("src/core.py"), place("src/other.py")];
        let left = FurtherOccurrence::new(path("tests/test_core.py"), Position::default());
        let files = vec![left.clone()];
        let standing = FurtherOccurrences { files, ..FurtherOccurrences::default() };
        let is_doubtful_with = |standing: &FurtherOccurrences, leaves_files_out| {
            let certainty = ServerCertainty { is_unsure: false, leaves_files_out };
            is_doubtful(standing, &value, certainty, OccurrenceSense::Any)
        };
        assert!(is_doubtful_with(&standing, true));
        assert!(
            !is_doubtful_with(&standing, false),
            "the server knows the file, so it means something else there"
        );
        assert!(!is_doubtful_with(&FurtherOccurrences::default(), true));
        let defined = FurtherOccurrence { defines: true, ..left };
        let standing = FurtherOccurrences { files: vec![defined], ..FurtherOccurrences::default() };
        assert!(!is_doubtful_with(&standing, true));
    }
}
