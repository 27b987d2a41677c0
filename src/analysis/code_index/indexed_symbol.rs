//! The symbol at a place, as an index describes it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime};

use memchr::memmem;
use prost::Message;

use super::INDEX_FILE;
use super::index_reader::{IndexError, IndexPart, IndexReader};
use super::message::{LOCAL_PREFIX, ScipDocument, ScipIndexer, ScipOccurrence, ScipSymbol};
use crate::analysis::ask::unanswered_question::UnansweredQuestion;
use crate::analysis::context::Context;
use crate::analysis::items::named_places::abbreviate_list;
use crate::analysis::path_limits::PathLimits;
use crate::lsp::documents::view::View;
use crate::lsp::model::{FileRef, Location};
use crate::text::words::age::age;
use crate::text::{Buffer, Position, is_identifier_char, line_excerpt, truncate_chars, words_in};
use crate::workspace::{Workspace, WorkspacePath};

/// The longest part of an indexer's name that notes show.
const MAX_INDEXER_CHARS: usize = 40;
/// The most changed files that a note names.
const MAX_NAMED_FILES: usize = 3;
/// The longest time between the writes of an index and of its sources by one command, such as a copy
/// or a checkout.
const MAX_WRITE_GAP: Duration = Duration::from_secs(2);
/// The argument with which our own indexer names the commit.
pub(crate) const COMMIT_ARGUMENT: &str = "--commit=";

/// A symbol in an index. All places were compared with the present text.
#[derive(Debug, Default)]
pub(crate) struct IndexedSymbol {
    /// Its definitions.
    pub(crate) definitions: BTreeSet<Location>,
    /// Its definitions and uses.
    pub(crate) occurrences: BTreeSet<Location>,
    /// The definitions of symbols that implement it.
    pub(crate) implementations: BTreeSet<Location>,
    /// Its signature and documentation, as Markdown; empty if the index has none.
    pub(crate) documentation: String,
    /// The origin of the index, in words.
    origin: String,
    /// The files that have changed since, of those that the answer rests on.
    changed: BTreeSet<String>,
    /// The number of places that no longer have the name.
    outdated: usize,
}

impl IndexedSymbol {
    /// Returns true if no file that the answer rests on has changed since the index was written.
    pub(crate) fn is_current(&self) -> bool {
        self.changed.is_empty()
    }

    /// Notes on the origin and on what has changed since.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let files = abbreviate_list(self.changed.iter().cloned(), self.changed.len(), MAX_NAMED_FILES);
        let changed = (!files.is_empty()).then(|| {
            format!("changed since the index was written, so that places there may be wrong: {files}")
        });
        let outdated = match self.outdated {
            0 => None,
            1 => Some("1 place of the index no longer has the name and is left out".to_owned()),
            more => Some(format!("{more} places of the index no longer have the name and are left out")),
        };
        std::iter::once(self.origin.clone()).chain(changed).chain(outdated)
    }
}

/// Returns the symbol at the place of a question, according to the index of its file; `None` without
/// an index, or without a symbol there.
///
/// # Errors
/// The reason that an index cannot be used, in one sentence.
pub(crate) async fn find(
    context: &Context,
    unanswered: &UnansweredQuestion,
) -> Result<Option<IndexedSymbol>, String> {
    let path = unanswered.subject.path.clone();
    let Some(name) = unanswered.place.resolved.as_ref().map(|resolved| resolved.symbol.clone()) else {
        return Ok(None);
    };
    let (workspace, limits) = (context.overlaid_workspace(), context.limits.clone());
    let is_index = |index: &WorkspacePath| workspace.stamp(index).is_ok() && !limits.is_hidden(index);
    let index = path.ancestors().filter_map(|folder| folder.join(INDEX_FILE).ok()).find(is_index);
    let Some(index) = index else { return Ok(None) };
    let (position, view, shown) = (unanswered.place.position, context.view.clone(), index.display());
    let until = Instant::now() + crate::syntax::DEADLINE;
    let found = tokio::task::spawn_blocking(move || {
        IndexSearch::new(workspace, limits, view, index, name, until)?.symbol_at(&path, position)
    });
    let found = found.await.map_err(|error| error.to_string());
    let found = found.and_then(|found| found.map_err(|error| error.to_string()));
    found.map_err(|why| format!("{shown} was not used: {why}"))
}

/// A search in one index.
struct IndexSearch {
    workspace: Workspace,
    limits: PathLimits,
    view: View,
    index: WorkspacePath,
    /// The folder to which the paths of the index are relative.
    base: WorkspacePath,
    /// The time when the index was written.
    written: SystemTime,
    /// The name at the place of the question.
    name: String,
    until: Instant,
    found: IndexedSymbol,
    /// The present texts of files; `None` for those that cannot be read.
    texts: BTreeMap<WorkspacePath, Option<Buffer>>,
}

impl IndexSearch {
    fn new(
        workspace: Workspace,
        limits: PathLimits,
        view: View,
        index: WorkspacePath,
        name: String,
        until: Instant,
    ) -> Result<Self, IndexError> {
        let (found, texts) = (IndexedSymbol::default(), BTreeMap::new());
        let (base, written) = (index.parent().unwrap_or_else(WorkspacePath::root), SystemTime::UNIX_EPOCH);
        let mut search = Self { workspace, limits, view, index, base, written, name, until, found, texts };
        let (mut reader, written) = search.open()?;
        search.written = written;
        if let Some(IndexPart::Metadata(metadata)) = reader.next().transpose()? {
            search.found.origin = search.origin(&metadata.tool_info.unwrap_or_default());
            // An indexer may write its index elsewhere than into the folder that it indexes.
            let root = url::Url::parse(&metadata.project_root).ok().and_then(|root| root.to_file_path().ok());
            let root = root.and_then(|root| search.workspace.workspace_path(&root));
            search.base = root.unwrap_or(search.base);
        }
        Ok(search)
    }

    /// A reader of the index, and the time when it was written.
    fn open(&self) -> Result<(IndexReader, SystemTime), IndexError> {
        let opened = self.workspace.open_regular(self.index.as_path());
        let (file, _) = opened.map_err(|error| std::io::Error::other(error.reason()))?;
        let written = file.metadata()?.modified()?;
        Ok((IndexReader::new(file, self.until), written))
    }

    fn symbol_at(
        mut self,
        path: &WorkspacePath,
        position: Position,
    ) -> Result<Option<IndexedSymbol>, IndexError> {
        let symbols = self.symbols_at(path, position)?;
        if symbols.is_empty() {
            return Ok(None);
        }
        let symbols = BTreeSet::from_iter(symbols.iter().map(String::as_str));
        let shared = symbols.iter().copied().filter(|symbol| !symbol.starts_with(LOCAL_PREFIX)).collect();
        let needles = Vec::from_iter(symbols.iter().map(memmem::Finder::new));
        let is_named = |bytes: &[u8]| needles.iter().any(|needle| needle.find(bytes).is_some());
        for part in self.open()?.0 {
            match part? {
                IndexPart::Document(bytes) if is_named(&bytes) => {
                    let document = ScipDocument::decode(bytes.as_slice())?;
                    // The names of local symbols repeat in other documents.
                    let is_same = self.path_of(&document).as_ref() == Some(path);
                    self.take(&document, if is_same { &symbols } else { &shared })?;
                }
                IndexPart::ExternalSymbol(bytes) if is_named(&bytes) => {
                    let symbol = ScipSymbol::decode(bytes.as_slice())?;
                    if shared.contains(symbol.symbol.as_str()) {
                        self.describe(&symbol);
                    }
                }
                IndexPart::Document(_) | IndexPart::ExternalSymbol(_) | IndexPart::Metadata(_) => {}
            }
        }
        Ok(Some(self.found))
    }

    /// The symbols with the name at `position`.
    fn symbols_at(
        &mut self,
        path: &WorkspacePath,
        position: Position,
    ) -> Result<BTreeSet<String>, IndexError> {
        let Ok(relative) = path.as_path().strip_prefix(self.base.as_path()) else {
            return Ok(BTreeSet::new());
        };
        // Indexes have `/` in paths.
        let relative = relative.to_string_lossy().replace('\\', "/");
        let needle = memmem::Finder::new(&relative).into_owned();
        let mut symbols = BTreeSet::new();
        for part in self.open()?.0 {
            let IndexPart::Document(bytes) = part? else { continue };
            if needle.find(&bytes).is_none() {
                continue;
            }
            let document = ScipDocument::decode(bytes.as_slice())?;
            if self.path_of(&document).as_ref() != Some(path) {
                continue;
            }
            let Some(text) = self.text(&document, path) else { continue };
            let is_current = self.is_current(path);
            // Without a symbol, an occurrence is a colour or a finding.
            let named = document.occurrences.iter().filter(|occurrence| !occurrence.symbol.is_empty());
            for occurrence in named {
                self.check_time()?;
                let range = occurrence.range(document.encoding()).map(|range| text.decode_range(range));
                let is_here =
                    range.is_some_and(|range| range.touches(position) && text.slice(range) == self.name);
                // In a changed file another name may stand there; in others it is an alias.
                if is_here && (is_current || declared_name(&occurrence.symbol) == Some(&self.name)) {
                    symbols.insert(occurrence.symbol.clone());
                }
            }
        }
        Ok(symbols)
    }

    fn check_time(&self) -> Result<(), IndexError> {
        if Instant::now() > self.until { Err(IndexError::Late) } else { Ok(()) }
    }

    /// Returns true if the text of a file is that of the index, as far as is known.
    fn is_current(&self, path: &WorkspacePath) -> bool {
        !self.found.changed.contains(&path.display())
    }

    /// The file of a document, if it is one that the caller may see.
    fn path_of(&self, document: &ScipDocument) -> Option<WorkspacePath> {
        self.base.join(&document.relative_path).ok().filter(|path| !self.limits.is_hidden(path))
    }

    /// The present text of a file. Notes if it has changed since the index was written.
    fn text(&mut self, document: &ScipDocument, path: &WorkspacePath) -> Option<Buffer> {
        if let Some(known) = self.texts.get(path) {
            return known.clone();
        }
        let text = self.workspace.read_text(path).ok().map(|file| file.text);
        let has_changed = match (&text, document.text_hash.as_slice()) {
            // Its places are left out. It may be hidden, so nothing names it.
            (None, _) => false,
            (Some(text), hash @ [_, ..]) => ScipDocument::hash_of(text) != hash,
            (Some(_), []) => {
                let metadata = std::fs::metadata(self.workspace.absolute(path));
                let time = metadata.and_then(|metadata| metadata.modified());
                self.view.unsaved(path).is_some()
                    || !time.is_ok_and(|time| time <= self.written + MAX_WRITE_GAP)
            }
        };
        if has_changed {
            self.found.changed.insert(path.display());
        }
        let text = text.map(|text| Buffer::new(&text));
        self.texts.insert(path.clone(), text.clone());
        text
    }

    /// Takes what a document says about the symbols.
    fn take(&mut self, document: &ScipDocument, symbols: &BTreeSet<&str>) -> Result<(), IndexError> {
        let Some(path) = self.path_of(document) else { return Ok(()) };
        // A link may lead to a file that a rule hides.
        if self.limits.may_hide() && self.text(document, &path).is_none() {
            return Ok(());
        }
        let mut implementing = BTreeSet::new();
        for symbol in &document.symbols {
            self.check_time()?;
            if symbols.contains(symbol.symbol.as_str()) {
                self.describe(symbol);
            }
            let mut related = symbol.relationships.iter().filter(|relation| relation.is_implementation);
            if related.any(|relation| symbols.contains(relation.symbol.as_str())) {
                implementing.insert(symbol.symbol.as_str());
            }
        }
        for occurrence in &document.occurrences {
            self.check_time()?;
            let is_own = symbols.contains(occurrence.symbol.as_str());
            let implements = implementing.contains(occurrence.symbol.as_str()) && occurrence.is_definition();
            if !is_own && !implements {
                continue;
            }
            let Some(place) = self.place(document, &path, occurrence) else {
                self.found.outdated += 1;
                continue;
            };
            if implements {
                self.found.implementations.insert(place.clone());
            }
            if is_own && occurrence.is_definition() {
                self.found.definitions.insert(place.clone());
            }
            if is_own {
                self.found.occurrences.insert(place);
            }
        }
        Ok(())
    }

    /// The place of an occurrence, if the name of its symbol is still there.
    fn place(
        &mut self,
        document: &ScipDocument,
        path: &WorkspacePath,
        occurrence: &ScipOccurrence,
    ) -> Option<Location> {
        let text = self.text(document, path)?;
        let range = text.decode_range(occurrence.range(document.encoding())?);
        let there = text.slice(range);
        // In a file that has not changed, another name is an alias.
        let has_name = there == self.name || declared_name(&occurrence.symbol) == Some(&there);
        let is_alias = !there.is_empty() && there.chars().all(is_identifier_char) && self.is_current(path);
        // Files and modules are defined at their start.
        let is_file = there.is_empty() && occurrence.is_definition() && range.start == Position::default();
        let line = Some(line_excerpt(&text.line(range.start.line)?, range.start.character));
        (has_name || is_alias || is_file).then(|| Location {
            file: FileRef::Inside(path.clone()),
            range,
            text: line,
        })
    }

    /// Adds the signature and the documentation of a symbol.
    fn describe(&mut self, symbol: &ScipSymbol) {
        let signature = symbol.signature.iter().filter(|signature| !signature.text.is_empty());
        let signature =
            signature.map(|signature| format!("```{}\n{}\n```", signature.language, signature.text));
        for text in signature.chain(symbol.documentation.iter().cloned()) {
            let known = &mut self.found.documentation;
            if !text.trim().is_empty() && !known.contains(text.trim()) {
                known.push_str(if known.is_empty() { "" } else { "\n\n" });
                known.push_str(text.trim());
            }
        }
    }

    /// The origin of the index: its commit, if it is known, and the program that wrote it.
    fn origin(&self, indexer: &ScipIndexer) -> String {
        let is_hash =
            |commit: &&str| !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let commit = indexer.arguments.iter().filter_map(|argument| argument.strip_prefix(COMMIT_ARGUMENT));
        let commit = commit
            .filter(is_hash)
            .map(|commit| format!("the index of {}", &commit[..commit.len().min(12)]))
            .next();
        let what = commit.unwrap_or_else(|| "an index".to_owned());
        let who = format!("{} {}", indexer.name, indexer.version);
        let who = truncate_chars(who.trim(), MAX_INDEXER_CHARS).into_owned();
        let who = if who.is_empty() { "an unknown indexer".to_owned() } else { who };
        let seconds = self.written.elapsed().unwrap_or_default().as_secs();
        format!("the answer is from {}, {what} that {who} wrote {} ago", self.index.display(), age(seconds))
    }
}

/// The name at the end of a symbol's own name: `add` of `… shop/Cart#add().`
fn declared_name(symbol: &str) -> Option<&str> {
    words_in(symbol).filter(|word| !word.starts_with(|first: char| first.is_ascii_digit())).last()
}
