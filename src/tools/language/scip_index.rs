//! `index --scip`: an index of the workspace's symbols, for other programs and for later answers.
//!
//! Each symbol of a file's outline is asked for its uses and its hover. Only complete answers are
//! written. What was asked is kept beside the index until it is complete, so that an interrupted
//! command goes on where it ended, if no source file has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures::StreamExt;
use prost::Message;
use serde::Serialize;

use super::{lsp_hover, lsp_navigate};
use crate::analysis::answer::{LocationsOutput, SymbolItem, Verdict};
use crate::analysis::code_index::index_reader::{IndexPart, IndexReader};
use crate::analysis::code_index::indexed_symbol::COMMIT_ARGUMENT;
use crate::analysis::code_index::message::{
    DEFINITION_ROLE, ScipDocument, ScipIndex, ScipIndexer, ScipMetadata, ScipOccurrence, ScipSymbol,
};
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::names::outline::outline;
use crate::analysis::target::Target;
use crate::lsp::session::operations::Navigation;
use crate::lsp::session::progress::ProgressEvent;
use crate::process::git::repository::{GitHead, Repository};
use crate::text::{Buffer, PartsHash, PartsHasher, Position, Range, hex, identifier_near};
use crate::workspace::{Workspace, WorkspacePath};

/// The time for the answer to one question, unless the caller sets another.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(120);
/// The time for reading an earlier index or journal.
const READING_TIMEOUT: Duration = Duration::from_secs(120);
/// The most uses of one symbol.
const MAX_USES: usize = 1_000_000;
/// The number of symbols that are asked about at once.
const SYMBOLS_AT_ONCE: usize = 4;
/// The argument in an unfinished index that names the state of the source files.
const SOURCES_ARGUMENT: &str = "--sources=";
/// The ends of the names of files beside the index: what was asked so far, and the complete index
/// before it has its name.
const JOURNAL_SUFFIX: &str = ".part";
const COMPLETE_SUFFIX: &str = ".new";
/// The scheme of the names of symbols, and an empty package: manager, name and version.
const SYMBOL_PREFIX: &str = "lsp-tools . . . ";

/// The extent of a written index, and its gaps.
#[derive(Debug, Serialize)]
pub(crate) struct CodeIndexOutput {
    /// Always true.
    ok: bool,
    /// The index.
    pub(crate) file: PathBuf,
    /// The number of source files.
    pub(crate) files: usize,
    /// The number of symbols with their uses.
    pub(crate) symbols: usize,
    /// The number of files that an interrupted command had finished.
    pub(crate) resumed: usize,
    /// The symbols without a complete answer, which are left out.
    pub(crate) left_out: Vec<String>,
    /// The files whose symbols no server lists, which are left out.
    pub(crate) unlisted: Vec<String>,
}

/// Writes an index of the workspace to `output`.
///
/// # Errors
/// `server_missing` if no file has a server that lists its symbols; `invalid_args` if the output
/// cannot be written; `conflict` if a source file changed meanwhile.
pub(crate) async fn run(context: &Context, output: &Path) -> Result<CodeIndexOutput, ToolError> {
    let timeout = context.timeout.or(Some(QUESTION_TIMEOUT));
    let context = &Context { timeout, ..context.clone() };
    for path in [output.to_owned(), beside(output, JOURNAL_SUFFIX), beside(output, COMPLETE_SUFFIX)] {
        check_replaceable(&path)?;
    }
    let sources = sources(context)?;
    let state = sources_hash(&sources);
    let mut index = UnfinishedIndex::open(context, output, &state)?;
    let (mut left_out, mut resumed, mut unlisted) = (Vec::new(), 0, Vec::new());
    for (done, source) in sources.iter().enumerate() {
        context.send_progress(ProgressEvent::FilesChecked { done, total: sources.len() });
        if index.is_done(&source.file.path) {
            resumed += 1;
            continue;
        }
        match documents(context, source).await? {
            Some((documents, incomplete)) => {
                left_out.extend(incomplete);
                index.add(documents)?;
            }
            None => unlisted.push(source.file.path.display()),
        }
    }
    if unlisted.len() == sources.len() {
        index.discard();
        let what = "no language server lists the symbols of a file here";
        return Err(ToolError::new(ErrorCode::ServerMissing, what)
            .with_hint("`lsp-tools doctor` names the servers and the commands that install them"));
    }
    if sources_hash(&self::sources(context)?) != state {
        return Err(ToolError::new(ErrorCode::Conflict, "source files changed while they were indexed")
            .with_hint("run the command again"));
    }
    let (files, symbols) = index.finish(&sources)?;
    Ok(CodeIndexOutput { ok: true, file: output.to_owned(), files, symbols, resumed, left_out, unlisted })
}

/// A file with a server that navigates.
struct Source {
    file: LanguageFile,
    text: Buffer,
    hash: PartsHash,
}

/// All sources of the workspace. A file that is not text is none.
fn sources(context: &Context) -> Result<Vec<Source>, ToolError> {
    let all = context.source_files(&WorkspacePath::root())?.into_iter();
    let served = all.filter(|file| !context.servers_for(file, |features| features.navigation).is_empty());
    let source = |file: LanguageFile| {
        let text = context.text(&file.path).ok()?;
        let hash = ScipDocument::hash_of(&text.to_string());
        Some(Source { file, text, hash })
    };
    Ok(served.filter_map(source).collect())
}

/// The state of source files.
fn sources_hash(sources: &[Source]) -> String {
    let mut hasher = PartsHasher::default();
    for source in sources {
        hasher.add_name(source.file.path.as_path().as_os_str());
        hasher.add(&source.hash);
    }
    hex(&hasher.finish())
}

/// A symbol of an outline with a name in the text.
struct NamedSymbol {
    /// Its name in the index.
    symbol: String,
    name: String,
    at: Position,
}

/// The documents with the uses of a file's symbols, that of the file itself last, and the symbols
/// without a complete answer. `None` if no server lists its symbols.
async fn documents(
    context: &Context,
    Source { file: subject, text, hash }: &Source,
) -> Result<Option<(Vec<ScipDocument>, Vec<String>)>, ToolError> {
    let listed = outline(context, subject.clone(), usize::MAX, false).await?;
    if listed.verdict != Verdict::Complete {
        return Ok(None);
    }
    let mut symbols = Vec::new();
    let file = format!("{SYMBOL_PREFIX}{}", descriptor(&slashed(&subject.path), "/"));
    name_symbols(&listed.output.symbols, &file, text, &mut BTreeMap::new(), &mut symbols);
    let asked = futures::stream::iter(symbols)
        .map(|symbol| async move { (ask(context, subject, &symbol).await, symbol) });
    let mut asked = asked.buffered(SYMBOLS_AT_ONCE);
    let (mut by_file, mut own, mut incomplete) =
        (BTreeMap::<WorkspacePath, Vec<_>>::new(), Vec::new(), Vec::new());
    while let Some((answer, symbol)) = asked.next().await {
        let Some(SymbolAnswer { uses, definitions, documentation }) = answer? else {
            incomplete.push(format!("{}:{}", subject.path.display(), symbol.name));
            continue;
        };
        for (path, range) in uses {
            let is_definition = definitions.contains(&(path.clone(), range));
            by_file.entry(path).or_default().push(occurrence(&symbol.symbol, range, is_definition));
        }
        own.push(ScipSymbol {
            symbol: symbol.symbol,
            documentation,
            display_name: symbol.name,
            ..ScipSymbol::default()
        });
    }
    let own_occurrences = by_file.remove(&subject.path).unwrap_or_default();
    let others = by_file.into_iter().map(|(path, occurrences)| document(context, &path, occurrences));
    let mut documents = Vec::from_iter(others);
    // Without the hash, an interrupted command asks about the file again.
    let text_hash = if incomplete.is_empty() { hash.to_vec() } else { Vec::new() };
    documents.push(ScipDocument {
        symbols: own,
        text_hash,
        ..document(context, &subject.path, own_occurrences)
    });
    Ok(Some((documents, incomplete)))
}

/// A complete answer about a symbol.
struct SymbolAnswer {
    /// Its uses, its definitions included.
    uses: BTreeSet<(WorkspacePath, Range)>,
    definitions: BTreeSet<(WorkspacePath, Range)>,
    documentation: Vec<String>,
}

/// Asks about a symbol; `None` without a complete answer.
async fn ask(
    context: &Context,
    subject: &LanguageFile,
    symbol: &NamedSymbol,
) -> Result<Option<SymbolAnswer>, ToolError> {
    let target = Target::Position { path: context.workspace.absolute(&subject.path), position: symbol.at };
    let uses = lsp_navigate::run(context, Navigation::References, &target, Some(MAX_USES)).await?;
    let defined = lsp_navigate::run(context, Navigation::Definition, &target, Some(MAX_USES)).await?;
    let hover = lsp_hover::run(context, &target).await?;
    let verdicts = [uses.verdict, defined.verdict, hover.verdict];
    if verdicts.iter().any(|verdict| *verdict != Verdict::Complete) || uses.output.has_more {
        return Ok(None);
    }
    let end = symbol.at.right_by(symbol.name.chars().count());
    let own = (subject.path.clone(), Range::new(symbol.at, end));
    let mut definitions = places(context, defined.output);
    if definitions.is_empty() {
        definitions.insert(own.clone());
    }
    let mut uses = places(context, uses.output);
    uses.extend(definitions.iter().cloned().chain([own]));
    let documentation = Some(hover.output.contents).filter(|contents| !contents.is_empty());
    Ok(Some(SymbolAnswer { uses, definitions, documentation: documentation.into_iter().collect() }))
}

/// The places in files that the index may name: those of the workspace that no rule hides.
fn places(context: &Context, output: LocationsOutput) -> BTreeSet<(WorkspacePath, Range)> {
    let path = |path: &str| context.workspace.path(Path::new(path)).ok();
    let found = output.locations.0.into_iter().filter_map(|place| Some((path(&place.path)?, place.range)));
    found.filter(|(path, _)| !context.limits.is_hidden(path)).collect()
}

/// Collects the symbols with a name in the text, each with its name below `container`. `known`
/// counts equal names.
fn name_symbols(
    items: &[SymbolItem],
    container: &str,
    text: &Buffer,
    known: &mut BTreeMap<String, usize>,
    named: &mut Vec<NamedSymbol>,
) {
    for item in items {
        let at = item.selection.unwrap_or(item.range).start;
        let there = identifier_near(text, at).filter(|there| there.range.start == at);
        let name = there.map(|there| text.slice(there.range).into_owned());
        let shown = name.as_deref().unwrap_or(&item.name);
        let plain = format!("{container}{}", descriptor(shown, &suffix(&item.kind, None)));
        let count = known.entry(plain.clone()).and_modify(|count| *count += 1).or_insert(0);
        let symbol = match *count {
            0 => plain,
            count => format!("{container}{}", descriptor(shown, &suffix(&item.kind, Some(count)))),
        };
        name_symbols(&item.children, &symbol, text, known, named);
        named.extend(name.map(|name| NamedSymbol { symbol, name, at }));
    }
}

/// The part of a symbol's name for one symbol or file: its own name, in quotes if it has other
/// characters than identifiers, and the suffix of its kind (`scip.proto`, *Symbol*).
fn descriptor(name: &str, suffix: &str) -> String {
    let is_simple = |byte: u8| byte.is_ascii_alphanumeric() || b"_+-$".contains(&byte);
    match !name.is_empty() && name.bytes().all(is_simple) {
        true => format!("{name}{suffix}"),
        false => format!("`{}`{suffix}", name.replace('`', "``")),
    }
}

/// The suffix for a kind of LSP; `count` tells equal names apart.
fn suffix(kind: &str, count: Option<usize>) -> String {
    let count = count.map(|count| format!("+{count}")).unwrap_or_default();
    match kind {
        "method" | "function" | "constructor" => format!("({count})."),
        "class" | "struct" | "interface" | "enum" => format!("{count}#"),
        "namespace" | "module" | "package" => format!("{count}/"),
        _ => format!("{count}."),
    }
}

fn occurrence(symbol: &str, range: Range, is_definition: bool) -> ScipOccurrence {
    let number = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    let (start, end) = (range.start, range.end);
    let mut numbers = vec![number(start.line), number(start.character)];
    numbers.extend((end.line != start.line).then(|| number(end.line)));
    numbers.push(number(end.character));
    ScipOccurrence {
        range: numbers,
        symbol: symbol.to_owned(),
        symbol_roles: if is_definition { DEFINITION_ROLE } else { 0 },
        ..ScipOccurrence::default()
    }
}

fn document(context: &Context, path: &WorkspacePath, occurrences: Vec<ScipOccurrence>) -> ScipDocument {
    let language = context.language_of(path).ok().flatten();
    let language = language.and_then(|key| context.catalogue().languages.get(key));
    ScipDocument {
        relative_path: slashed(path),
        occurrences,
        language: language.map(|language| language.name.clone()).unwrap_or_default(),
        // Unicode scalar values, as positions in texts.
        position_encoding: 3,
        ..ScipDocument::default()
    }
}

/// A path as in indexes.
fn slashed(path: &WorkspacePath) -> String {
    path.as_path().to_string_lossy().replace('\\', "/")
}

/// An index that is being made: what was asked is also in a file beside it.
struct UnfinishedIndex {
    output: PathBuf,
    journal: PathBuf,
    file: File,
    metadata: ScipMetadata,
    documents: BTreeMap<String, ScipDocument>,
}

impl UnfinishedIndex {
    /// Goes on with the journal of an earlier command, if the source files are the same.
    fn open(context: &Context, output: &Path, sources_state: &str) -> Result<Self, ToolError> {
        let (journal, metadata) = (beside(output, JOURNAL_SUFFIX), metadata(context, sources_state));
        let mut documents = BTreeMap::new();
        read_journal(&journal, &metadata, &mut documents);
        let failed = |error| unwritable(&journal, &error);
        let file = create_anew(&journal).map_err(failed)?;
        let mut index =
            Self { output: output.to_owned(), journal: journal.clone(), file, metadata, documents };
        let known = ScipIndex {
            metadata: Some(index.metadata.clone()),
            documents: index.documents.values().cloned().collect(),
        };
        index.file.write_all(&known.encode_to_vec()).map_err(failed)?;
        Ok(index)
    }

    /// Returns true if the symbols of the file were asked about.
    fn is_done(&self, path: &WorkspacePath) -> bool {
        self.documents.get(&slashed(path)).is_some_and(|document| !document.text_hash.is_empty())
    }

    /// Adds the documents of one file.
    fn add(&mut self, documents: Vec<ScipDocument>) -> Result<(), ToolError> {
        let added = ScipIndex { metadata: None, documents };
        let written = self.file.write_all(&added.encode_to_vec());
        written.map_err(|error| unwritable(&self.journal, &error))?;
        added.documents.into_iter().for_each(|document| merge(&mut self.documents, document));
        Ok(())
    }

    /// Removes the journal. One that stays is replaced by the next command.
    fn discard(&self) {
        let _ = fs::remove_file(&self.journal);
    }

    /// Writes the index of the sources and removes the journal. Returns the numbers of files and
    /// symbols.
    fn finish(mut self, sources: &[Source]) -> Result<(usize, usize), ToolError> {
        for source in sources {
            if let Some(document) = self.documents.get_mut(&slashed(&source.file.path)) {
                document.text_hash = source.hash.to_vec();
            }
        }
        self.metadata.tool_info.iter_mut().for_each(|indexer| {
            indexer.arguments.retain(|argument| !argument.starts_with(SOURCES_ARGUMENT));
        });
        for document in self.documents.values_mut() {
            document.occurrences.sort_by(|a, b| (&a.range, &a.symbol).cmp(&(&b.range, &b.symbol)));
            document.occurrences.dedup();
            // A file that was asked about again has its symbols twice.
            document.symbols.reverse();
            let mut known = BTreeSet::new();
            document.symbols.retain(|symbol| known.insert(symbol.symbol.clone()));
            document.symbols.reverse();
        }
        let symbols = self.documents.values().map(|document| document.symbols.len()).sum();
        let index = ScipIndex {
            metadata: Some(self.metadata.clone()),
            documents: std::mem::take(&mut self.documents).into_values().collect(),
        };
        let complete = beside(&self.output, COMPLETE_SUFFIX);
        let written = create_anew(&complete)
            .and_then(|mut file| file.write_all(&index.encode_to_vec()))
            .and_then(|()| fs::rename(&complete, &self.output));
        written.map_err(|error| unwritable(&self.output, &error))?;
        self.discard();
        Ok((index.documents.len(), symbols))
    }
}

/// Reads what an interrupted command asked, up to where its last write was cut off.
fn read_journal(journal: &Path, metadata: &ScipMetadata, documents: &mut BTreeMap<String, ScipDocument>) {
    let Ok((file, _)) = Workspace::open_outside(journal) else { return };
    let until = Instant::now() + READING_TIMEOUT;
    for part in IndexReader::new(file, until).map_while(Result::ok) {
        match part {
            IndexPart::Metadata(written) if written != *metadata => return,
            IndexPart::Metadata(_) | IndexPart::ExternalSymbol(_) => {}
            IndexPart::Document(bytes) => {
                let Ok(document) = ScipDocument::decode(bytes.as_slice()) else { return };
                merge(documents, document);
            }
        }
    }
}

/// Adds a document to that of the same file.
fn merge(documents: &mut BTreeMap<String, ScipDocument>, added: ScipDocument) {
    let Some(known) = documents.get_mut(&added.relative_path) else {
        documents.insert(added.relative_path.clone(), added);
        return;
    };
    known.occurrences.extend(added.occurrences);
    known.symbols.extend(added.symbols);
    if !added.text_hash.is_empty() {
        known.text_hash = added.text_hash;
    }
}

/// The origin of an index of sources in this state.
fn metadata(context: &Context, sources_state: &str) -> ScipMetadata {
    let root = context.workspace.root();
    let commit = Repository::find(root, root, ".").and_then(|repository| repository.head());
    let commit = match commit {
        Ok(GitHead::Commit(id)) => Some(format!("{COMMIT_ARGUMENT}{id}")),
        Ok(GitHead::Unborn) | Err(_) => None,
    };
    let arguments = commit.into_iter().chain([format!("{SOURCES_ARGUMENT}{sources_state}")]);
    ScipMetadata {
        tool_info: Some(ScipIndexer {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            arguments: arguments.collect(),
        }),
        project_root: crate::lsp::uri::from_path(root).into(),
        text_document_encoding: 1,
    }
}

/// A file beside the index.
fn beside(output: &Path, suffix: &str) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Refuses a place where the index, or a file beside it, would replace anything but an index.
fn check_replaceable(path: &Path) -> Result<(), ToolError> {
    let refused = |why: &str| {
        let what = format!("the index cannot be written: `{}` {why}", path.display());
        Err(ToolError::new(ErrorCode::InvalidArgs, what).with_hint("name another file with --output"))
    };
    let Ok(metadata) = fs::symlink_metadata(path) else {
        let has_folder = path.parent().is_some_and(Path::is_dir);
        return if has_folder { Ok(()) } else { refused("is in a folder that does not exist") };
    };
    if !metadata.is_file() {
        return refused("is there, and is no regular file");
    }
    let file = Workspace::open_outside(path).ok();
    let parts = file.map(|(file, _)| IndexReader::new(file, Instant::now() + READING_TIMEOUT));
    let is_index = || matches!(parts.and_then(|mut parts| parts.next()), Some(Ok(_)));
    if metadata.len() == 0 || is_index() { Ok(()) } else { refused("is there, and is no index") }
}

/// Creates a file in place of another. A link there, which a project may have put there, is not
/// followed.
fn create_anew(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => File::create_new(path),
    }
}

fn unwritable(path: &Path, error: &io::Error) -> ToolError {
    ToolError::new(ErrorCode::InvalidArgs, format!("`{}` cannot be written: {error}", path.display()))
}
