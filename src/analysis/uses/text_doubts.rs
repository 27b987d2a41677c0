//! The doubts that occurrences of a name in the text cast on a list of uses.

use super::mergeable_answer::MergeableAnswer;
use super::other_roots::concerns_types;
use crate::analysis::doubt::Doubt;
use crate::analysis::items::named_places::address_of;
use crate::syntax::{FurtherOccurrence, FurtherOccurrences, NotebookUse, OccurrenceSense};

/// The reliability of a server's complete listing.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerCertainty {
    /// True if nothing shows that it has read the whole project.
    pub(super) is_unsure: bool,
    /// True if the project's settings exclude files from the server.
    pub(super) leaves_files_out: bool,
}

/// The doubts that the remaining occurrences in the text cast on the uses `listed`.
pub(super) fn text_doubts(
    unlisted: &FurtherOccurrences,
    listed: &impl MergeableAnswer,
    certainty: ServerCertainty,
    sense: OccurrenceSense,
) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let places = |wanted: &dyn Fn(&&FurtherOccurrence) -> bool| -> Vec<String> {
        unlisted.files.iter().filter(wanted).map(address).collect()
    };
    add_named(&mut doubts, Doubt::Imported, places(&|file| file.imports));
    let notebook = |found: &NotebookUse| found.path.display();
    add_named(&mut doubts, Doubt::InNotebooks, unlisted.notebooks.iter().map(notebook).collect());
    let has_no_other = listed.has_no_other_places();
    if has_no_other {
        add_named(&mut doubts, Doubt::PassedOn, unlisted.passed.iter().map(address).collect());
    }
    if !(has_no_other || certainty.is_unsure || certainty.leaves_files_out) {
        return doubts;
    }
    // A file that defines the name itself probably means its own definition, except for
    // implementations. Possible comments count only if the server may not have read the file.
    let may_be_meant = |file: &&FurtherOccurrence| {
        (!file.unparsed || certainty.is_unsure) && (!file.defines || concerns_types(sense)) && !file.imports
    };
    add_named(&mut doubts, Doubt::Unlisted, places(&may_be_meant));
    if unlisted.files.is_empty() {
        doubts.extend((unlisted.unread > 0).then_some(Doubt::Unread(unlisted.unread)));
        doubts.extend(unlisted.cut.then_some(Doubt::SearchCut));
    }
    doubts
}

/// Adds the doubt about `named`, unless they are none.
fn add_named(doubts: &mut Vec<Doubt>, doubt: impl FnOnce(Vec<String>) -> Doubt, named: Vec<String>) {
    if !named.is_empty() {
        doubts.push(doubt(named));
    }
}

fn address(file: &FurtherOccurrence) -> String {
    address_of(&file.path, file.position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::model::{FileRef, Location};
    use crate::text::{Position, Range};
    use crate::workspace::WorkspacePath;

    const SURE: ServerCertainty = ServerCertainty { is_unsure: false, leaves_files_out: false };
    const UNSURE: ServerCertainty = ServerCertainty { is_unsure: true, leaves_files_out: false };
    const LEAVES_OUT: ServerCertainty = ServerCertainty { is_unsure: false, leaves_files_out: true };

    fn path(name: &str) -> WorkspacePath {
        WorkspacePath::root().join(name).unwrap()
    }

    fn listed(names: &[&str]) -> Vec<Location> {
        let place =
            |name: &&str| Location { file: FileRef::Inside(path(name)), range: Range::default(), text: None };
        names.iter().map(place).collect()
    }

    fn in_tests() -> FurtherOccurrence {
        FurtherOccurrence::new(path("tests/test_core.py"), Position::default())
    }

    fn doubts(unlisted: &FurtherOccurrences, names: &[&str], certainty: ServerCertainty) -> Vec<Doubt> {
        text_doubts(unlisted, &listed(names), certainty, OccurrenceSense::Any)
    }

    #[test]
    fn use_in_a_file_that_settings_leave_out_makes_answer_doubtful() {
        let two = ["src/core.py", "src/other.py"];
        let with = |file| FurtherOccurrences { files: vec![file], ..FurtherOccurrences::default() };
        let place = vec!["tests/test_core.py:1:1".to_owned()];
        assert_eq!(doubts(&with(in_tests()), &two, LEAVES_OUT), [Doubt::Unlisted(place.clone())]);
        assert_eq!(doubts(&with(in_tests()), &two, UNSURE), [Doubt::Unlisted(place.clone())]);
        assert_eq!(
            doubts(&with(in_tests()), &two, SURE),
            [],
            "the server knows the file, so it means something else there"
        );
        assert_eq!(doubts(&FurtherOccurrences::default(), &two, LEAVES_OUT), []);
        let defined = FurtherOccurrence { defines: true, ..in_tests() };
        assert_eq!(doubts(&with(defined), &two, LEAVES_OUT), []);
        let imported = FurtherOccurrence { imports: true, ..in_tests() };
        assert_eq!(doubts(&with(imported), &two, SURE), [Doubt::Imported(place)]);
    }

    #[test]
    fn passed_function_unread_files_and_cut_search_are_doubts_about_a_lone_place() {
        let alone = ["src/core.py"];
        let passed = FurtherOccurrences { passed: vec![in_tests()], ..FurtherOccurrences::default() };
        assert_eq!(
            doubts(&passed, &alone, SURE),
            [Doubt::PassedOn(vec!["tests/test_core.py:1:1".to_owned()])]
        );
        assert_eq!(doubts(&passed, &["src/core.py", "src/other.py"], SURE), []);
        let short = FurtherOccurrences { unread: 3, cut: true, ..FurtherOccurrences::default() };
        assert_eq!(doubts(&short, &alone, SURE), [Doubt::Unread(3), Doubt::SearchCut]);
    }
}
