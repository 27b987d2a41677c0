//! Doubts about an answer: each is a reason that it may be incomplete.

use std::fmt;

use super::answer::Verdict;
use super::items::named_places::abbreviate_list;

/// The most places that a sentence names.
const MAX_NAMED_PLACES: usize = 4;

/// A reason that an answer may be incomplete; its `Display` is the sentence for answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// Some items of the server's response cannot be decoded.
    Undecodable { server: String, items: usize },
    /// Some items of the server's response were omitted.
    Omitted { server: String, items: usize },
    /// The server knows open files only, and some that mention the name are not open, for a reason.
    Unopened { server: String, name: String, reason: String },
    /// Files import the name, and no server lists a use there.
    Imported(Vec<String>),
    /// Code in notebooks has the name.
    InNotebooks(Vec<String>),
    /// A function is stored as a value, and may be called without its name.
    PassedOn(Vec<String>),
    /// Files have the name, and nothing shows that the server has read them.
    Unlisted(Vec<String>),
    /// Some files with the name were not examined.
    Unread(usize),
    /// The text search reached its time limit.
    SearchCut,
    /// No server resolves the name in these projects and files.
    Uncovered(Vec<String>),
    /// Another root may use the method.
    OtherRoot,
    /// The search for other roots reached its time limit.
    RootsCut,
    /// The server skips some code in its configuration.
    Conditional(String),
    /// The text defines more symbols of the name than these servers list.
    DefinitionsUnlisted { servers: String },
    /// Files of these languages have the name, and their servers were not asked.
    LanguagesUnasked { languages: String },
    /// The text defines the name in these roots, projects and files, which no server searched.
    PlacesUnsearched { places: String },
    /// More files have the name than were searched.
    FilesUnsearched,
    /// Some files or changes were not examined, or the server was still working, in a sentence.
    Other(String),
    /// Uses of these files cannot be found.
    Unfollowed(Vec<String>),
    /// The server lists more uses of the symbol than were followed.
    UsesOmitted { server: String, symbol: String },
    /// A request to the server failed.
    Failed { server: String, error: String },
    /// No server answered for the language, so that uses were searched by name.
    NoServer { language: String },
    /// Uses in these files were not followed, because they are not among the searched sources.
    BeyondIndex(Vec<String>),
    /// The time limit was reached, and the remaining uses were searched by name.
    ServerTimeCut,
    /// This many requests were sent, and the remaining uses were searched by name.
    RequestsCut(usize),
    /// More than this many symbols are reached, and the others were not followed.
    SymbolsCut(usize),
    /// The time limit was reached, and the remaining uses were not followed.
    UsesCut,
    /// Tests of these languages cannot be distinguished from other functions.
    TestsUnrecognised { languages: String },
}

impl fmt::Display for Doubt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named =
            |places: &[String]| abbreviate_list(places.iter().cloned(), places.len(), MAX_NAMED_PLACES);
        match self {
            Self::Undecodable { server, items } => {
                write!(formatter, "{server} sent {items} items that cannot be decoded")
            }
            Self::Omitted { server, items } => {
                write!(formatter, "{server} returned {items} more, which were omitted: too many, or too late")
            }
            Self::Unopened { server, name, reason } => {
                write!(formatter, "{server} knows open files only; of those that mention `{name}`, {reason}")
            }
            Self::Imported(files) => {
                write!(formatter, "no use is listed where it is imported: {}", named(files))
            }
            Self::InNotebooks(files) => write!(formatter, "notebooks have the name: {}", named(files)),
            Self::PassedOn(places) => {
                write!(formatter, "it is passed on as a value, so calls need not name it: {}", named(places))
            }
            Self::Unlisted(files) => {
                write!(formatter, "files that the server may not have read have the name: {}", named(files))
            }
            Self::Unread(files) => write!(formatter, "{files} more files with the name were not examined"),
            Self::SearchCut => {
                formatter.write_str("not all files were searched for the name: some are unreadable, or the time limit was reached")
            }
            Self::Uncovered(places) => write!(formatter, "the name was not resolved for {}", named(places)),
            Self::OtherRoot => formatter.write_str("another project root may use the method"),
            Self::RootsCut => {
                formatter.write_str("the time limit was reached before all project roots were found")
            }
            Self::Conditional(sentence) => write!(formatter, "the name {sentence}"),
            Self::DefinitionsUnlisted { servers } => {
                write!(formatter, "{servers} did not list all definitions in the text")
            }
            Self::LanguagesUnasked { languages } => {
                write!(
                    formatter,
                    "files of these languages have the name, but no server was asked: {languages}"
                )
            }
            Self::PlacesUnsearched { places } => {
                write!(formatter, "no server searched where the text defines the name: {places}")
            }
            Self::FilesUnsearched => {
                formatter.write_str("more files than were searched have the name; there may be more symbols")
            }
            Self::Other(sentence) => formatter.write_str(sentence),
            Self::Unfollowed(files) => write!(formatter, "uses of {} cannot be found", named(files)),
            Self::UsesOmitted { server, symbol } => {
                write!(formatter, "{server} returned more uses of `{symbol}`, which were omitted")
            }
            Self::Failed { server, error } => write!(formatter, "{server} did not answer: {error}"),
            Self::NoServer { language } => {
                write!(formatter, "no server answered for {language}, so its uses were followed by name only")
            }
            Self::BeyondIndex(files) => write!(
                formatter,
                "uses in {} were not followed, because these files are not among the searched sources",
                named(files)
            ),
            Self::ServerTimeCut => formatter
                .write_str("the time limit was reached, and the other uses were followed by name only"),
            Self::RequestsCut(requests) => {
                write!(formatter, "after {requests} requests uses were followed by name only")
            }
            Self::SymbolsCut(symbols) => write!(formatter, "more than {symbols} symbols are reached"),
            Self::UsesCut => formatter.write_str("the time limit was reached before all uses were followed"),
            Self::TestsUnrecognised { languages } => {
                write!(formatter, "tests in {languages} are recognised only by the names of their files")
            }
        }
    }
}

/// The verdict of an answer that would be `verdict` without `doubts`.
pub(crate) fn with_doubts(mut verdict: Verdict, doubts: &[Doubt]) -> Verdict {
    if !doubts.is_empty() {
        verdict.lower();
    }
    verdict
}
