//! `explore`: a symbol with its source, its users and the symbols that it uses, in one answer of
//! limited size.
//!
//! The requests are those of the other language tools, sent together for the definition: hover,
//! references, implementations, callees, outline, diagnostics. [`uses`] names the function or class
//! around each reference; [`mod@fit`] divides the size among the parts. A part has its own verdict
//! if that is lower than the verdict of the whole answer.

pub(crate) mod fit;
pub(crate) mod output;
mod uses;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::fit::{ExploreParts, UncutList, fit};
use self::output::{ExploreFinding, ExploreItem, ExploreOutput};
use self::uses::{EnclosedUses, enclosed_uses};
use super::{lsp_hierarchy, lsp_hover, lsp_navigate};
use crate::analysis::answer::{
    Answer, DiagnosticItem, DiagnosticsOutput, HierarchyOutput, LocationsOutput, ServerState, Verdict,
};
use crate::analysis::ask::fallback;
use crate::analysis::check::checked_files::{CheckRequest, check};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::items::budget::json_size;
use crate::analysis::items::place::Place;
use crate::analysis::names::definition::{Definition, DefinitionExtent};
use crate::analysis::target::Target;
use crate::lsp::model::Severity;
use crate::lsp::session::hierarchy::HierarchyDirection;
use crate::lsp::session::operations::Navigation;
use crate::policy::request::CallSubjects;
use crate::syntax;
use crate::text::{LineColumn, Range};
use crate::tools::api::address::Address;
use crate::tools::api::only_paths::OnlyPaths;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;

/// The default size of an answer, in tokens.
const DEFAULT_BUDGET_TOKENS: usize = 2_000;
/// The smallest size that has room for something of each part.
const MIN_BUDGET_TOKENS: usize = 400;
/// The estimated size of the field names beside the output.
const VERDICT_BYTES: usize = 80;
/// The maximum number of listed definitions of one name.
const MAX_DEFINITIONS: usize = 10;
/// The most places requested for one part, and the most if only those in some files are kept.
const MAX_PLACES: usize = 2_000;
const MAX_CHOSEN_PLACES: usize = 20_000;

/// The arguments of `explore`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ExploreArgs {
    /// The symbol.
    #[serde(flatten)]
    pub address: Address,
    /// Size of the answer in tokens (2000).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MIN_BUDGET_TOKENS, max = 50_000))]
    pub budget: Option<usize>,
    /// Only places in these files and folders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<PathBuf>>,
}

/// The `explore` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Explore;

impl Tool for Explore {
    type Args = ExploreArgs;
    type Output = Answer<ExploreOutput>;

    fn card(&self) -> Card {
        Card::reading("explore", "Explore a symbol", DESCRIPTION).with_rank(1).overlaid().in_lsp_profile()
    }

    fn subjects(&self, context: &Context, args: &ExploreArgs) -> Result<CallSubjects, ToolError> {
        args.address.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: ExploreArgs) -> Result<Answer<ExploreOutput>, ToolError> {
        let only = OnlyPaths::new(call.context, args.only.as_deref())?;
        let target = args.address.target(call.context)?;
        run(call.context, &target, args.budget.unwrap_or(DEFAULT_BUDGET_TOKENS), &only).await
    }
}

const DESCRIPTION: &str = "Start here to understand or change a symbol: signature, docs, source, callers, callees, implementations, tests and \
             errors in one answer. Not for text that is no name (`grep`). Example: {\"symbol\": \"Cart.total\"}.";

/// Answers with as much about the symbol at `target` as fits into `tokens`. Its lists contain only
/// places in `only`.
pub(crate) async fn run(
    context: &Context,
    target: &Target,
    tokens: usize,
    only: &OnlyPaths,
) -> Result<Answer<ExploreOutput>, ToolError> {
    if tokens < MIN_BUDGET_TOKENS {
        let what = format!("a budget of {tokens} tokens is too small; the minimum is {MIN_BUDGET_TOKENS}");
        return Err(ToolError::new(ErrorCode::InvalidArgs, what));
    }
    let is_there =
        |path: &WorkspacePath| context.workspace.exists(path) && !context.workspace.is_path_hidden(path);
    if let Some(path) = only.iter().find(|path| !path.is_root() && !is_there(path)) {
        let path = path.display();
        let what = format!("`only` names `{path}`, which does not exist");
        return Err(ToolError::new(ErrorCode::NotFound, what).about_missing_path(&path));
    }
    let found = lsp_navigate::run(context, Navigation::Definition, target, Some(MAX_DEFINITIONS)).await?;
    let found = lsp_navigate::advised(found)?;
    let definition = Definition::new(context, target, &found)?;
    let mut whole = WholeAnswer::new(&found);
    let parts = find_parts(context, &definition, only, &mut whole).await?;
    whole.note_unknown_parts();
    whole.notes.extend(other_definitions(&found.output, &definition.place));
    let parts = match (&found.resolved, parts.symbol.is_empty()) {
        (Some(resolved), true) => ExploreParts { symbol: resolved.symbol.clone(), ..parts },
        _ => parts,
    };
    let beside = json_size(&found.resolved) + json_size(&found.server_status) + json_size(&whole.notes);
    Ok(Answer {
        ok: true,
        output: fit(parts, tokens, beside + VERDICT_BYTES),
        resolved: found.resolved,
        server_status: found.server_status,
        servers: found.servers,
        verdict: whole.verdict,
        notes: whole.notes,
    })
}

/// The parts of the answer about `definition`. Gaps of the parts are recorded in `whole`.
async fn find_parts(
    context: &Context,
    definition: &Definition,
    only: &OnlyPaths,
    whole: &mut WholeAnswer,
) -> Result<ExploreParts, ToolError> {
    let (at, place) = (&definition.target, &definition.place);
    let most = Some(if only.is_given() { MAX_CHOSEN_PLACES } else { MAX_PLACES });
    // Five complete requests run concurrently: together they are too large for the stack of a
    // worker thread.
    let (hover, references, implementations, callees, extent) = tokio::join!(
        Box::pin(lsp_hover::run(context, at)),
        Box::pin(lsp_navigate::run(context, Navigation::References, at, most)),
        Box::pin(lsp_navigate::run(context, Navigation::Implementation, at, most)),
        Box::pin(lsp_hierarchy::run(context, HierarchyDirection::Callees, at, 1)),
        Box::pin(definition.extent(context)),
    );
    let (path, range, name_start) = (place.path.clone(), place.range, place.range.start);
    let mut parts = ExploreParts { path, range, name_start, ..ExploreParts::default() };
    if let Some(hover) = whole.essential("hover", hover) {
        parts.about = hover.contents;
    }
    if let Some(extent) = extent {
        let errors =
            find_errors(context, definition).await.and_then(|found| whole.essential("errors", found));
        parts.errors = errors.map(|found| errors_in(found, extent.range)).unwrap_or_default();
        parts.body = definition.source_lines(context, extent.range);
        let DefinitionExtent { name, kind, range } = extent;
        (parts.symbol, parts.kind, parts.range) = (name, Some(kind), range);
    }
    if let Some(references) = whole.essential("callers", references) {
        whole.add_cut("callers", &references);
        let EnclosedUses { callers, tests } = group_uses(context, references, place, only).await;
        (parts.callers.items, parts.tests.items) = (callers, tests);
    }
    if let Some((verdict, output)) = whole.optional("implementations", by_server(implementations)) {
        whole.add_cut("implementations", &output);
        let EnclosedUses { callers, tests } = group_uses(context, output, place, only).await;
        parts.implementations = UncutList { items: callers.into_iter().chain(tests).collect(), verdict };
    }
    if let Some((verdict, output)) = whole.optional("callees", callees) {
        parts.callees = UncutList { items: callee_items(context, output, only).await, verdict };
    }
    Ok(parts)
}

/// Returns a server's answer only. Answers from the text are definitions of the name and do not fit
/// this part.
fn by_server(
    answer: Result<Answer<LocationsOutput>, ToolError>,
) -> Result<Answer<LocationsOutput>, ToolError> {
    match answer {
        Ok(answer) if answer.verdict == Verdict::Hints => Err(fallback::refusal_error(&answer.server_status)),
        answer => answer,
    }
}

/// The verdict and notes of the whole answer, updated as the parts arrive.
struct WholeAnswer {
    verdict: Verdict,
    notes: Vec<String>,
    /// The limitation of the definition's server, which is not repeated for each part.
    known: Option<String>,
    /// Parts without an answer from a server, by reason.
    unknown: Vec<(String, Vec<String>)>,
}

impl WholeAnswer {
    fn new(definition: &Answer<LocationsOutput>) -> Self {
        Self {
            verdict: definition.verdict,
            notes: definition.notes.clone(),
            known: definition.server_status.detail.clone(),
            unknown: Vec::new(),
        }
    }

    /// The output of a required part. A gap in it lowers the verdict of the whole.
    fn essential<T>(&mut self, part: &str, answer: Result<Answer<T>, ToolError>) -> Option<T> {
        let (verdict, output) = match answer {
            Ok(answer) => {
                self.add_notes(part, &answer);
                (answer.verdict, Some(answer.output))
            }
            Err(error) => {
                self.add_note(format!("{part}: {}", error.error));
                (Verdict::NoData, None)
            }
        };
        if verdict != Verdict::Complete {
            self.verdict.lower();
        }
        output
    }

    /// The output of an optional part, and its own verdict if that is not complete.
    fn optional<T>(
        &mut self,
        part: &str,
        answer: Result<Answer<T>, ToolError>,
    ) -> Option<(Option<Verdict>, T)> {
        match answer {
            Ok(answer) => {
                let verdict = Some(answer.verdict).filter(|verdict| *verdict != Verdict::Complete);
                if verdict.is_some() {
                    self.add_notes(part, &answer);
                }
                Some((verdict, answer.output))
            }
            Err(error) => {
                let part = part.to_owned();
                match self.unknown.iter_mut().find(|(reason, _)| *reason == error.error) {
                    Some((_, parts)) => parts.push(part),
                    None => self.unknown.push((error.error, vec![part])),
                }
                None
            }
        }
    }

    fn note_unknown_parts(&mut self) {
        for (reason, parts) in std::mem::take(&mut self.unknown) {
            self.add_note(format!("{} are unknown: {reason}", parts.join(" and ")));
        }
    }

    /// Adds a note if `found` is not complete.
    fn add_cut(&mut self, part: &str, found: &LocationsOutput) {
        if found.has_more {
            self.verdict.lower();
            let looked_at = found.locations.len();
            self.add_note(format!(
                "{part} are from the first {looked_at} places, and there are more; `only` narrows"
            ));
        }
    }

    fn add_notes<T>(&mut self, part: &str, answer: &Answer<T>) {
        let is_late = answer.verdict != Verdict::Complete && answer.server_status.state != ServerState::Ready;
        let detail =
            answer.server_status.detail.as_ref().filter(|detail| self.known.as_ref() != Some(*detail));
        if let Some(detail) = detail.filter(|_| is_late) {
            self.add_note(format!("{part}: {detail}"));
        }
        for note in &answer.notes {
            self.add_note(note.clone());
        }
    }

    fn add_note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// The errors in the file of the definition; `None` if the file is outside the workspace.
async fn find_errors(
    context: &Context,
    definition: &Definition,
) -> Option<Result<Answer<DiagnosticsOutput>, ToolError>> {
    let path = definition.path.as_ref()?;
    let request = CheckRequest {
        paths: vec![context.workspace.absolute(path)],
        min_severity: Some(Severity::Error),
        limit: Some(MAX_PLACES),
        ..CheckRequest::default()
    };
    Some(check(context, &request).await)
}

fn errors_in(output: DiagnosticsOutput, range: Range) -> Vec<ExploreFinding> {
    let inside = output
        .diagnostics
        .into_iter()
        .filter(|item| range.start.line <= item.range.start.line && item.range.start.line <= range.end.line);
    let finding = |item: DiagnosticItem| ExploreFinding {
        at: item.range.start,
        severity: item.severity,
        code: item.code,
        message: item.message,
    };
    inside.map(finding).collect()
}

async fn group_uses(
    context: &Context,
    references: LocationsOutput,
    definition: &Place,
    only: &OnlyPaths,
) -> EnclosedUses {
    let mut places = without(references.locations.0, definition);
    places.retain(|place| only.has_answered(context, &place.path));
    let at: Vec<_> = places.iter().map(|place| (place.path.as_str(), place.range.start)).collect();
    let around = context.enclosing_symbols(&at, std::time::Instant::now() + syntax::DEADLINE).await;
    enclosed_uses(places.into_iter().zip(around))
}

fn without(places: Vec<Place>, definition: &Place) -> Vec<Place> {
    let is_definition =
        |place: &Place| place.path == definition.path && place.range.touches(definition.range.start);
    places.into_iter().filter(|place| !is_definition(place)).collect()
}

/// The functions in `only`, each once regardless of overloads, with their containers. Functions of
/// the workspace come first.
async fn callee_items(context: &Context, output: HierarchyOutput, only: &OnlyPaths) -> Vec<ExploreItem> {
    let mut callees: Vec<_> = output.items.into_iter().flat_map(|item| item.children).collect();
    callees.retain(|callee| only.has_answered(context, &callee.place.path));
    context.name_containers(&mut callees, std::time::Instant::now() + syntax::DEADLINE).await;
    let mut items: Vec<ExploreItem> = Vec::new();
    for callee in callees {
        let symbol = match &callee.place.enclosing {
            Some(around) => format!("{around}.{}", callee.name),
            None => callee.name,
        };
        let is_same =
            |item: &ExploreItem| item.path == callee.place.path && item.symbol.as_ref() == Some(&symbol);
        if items.iter().any(is_same) {
            continue;
        }
        items.push(ExploreItem {
            symbol: Some(symbol),
            kind: Some(callee.kind),
            path: callee.place.path,
            at: vec![callee.place.range.start],
            places: 1,
            text: callee.place.text.map(|text| text.trim().to_owned()),
        });
    }
    items.sort_by_key(|item| Path::new(&item.path).is_absolute());
    items
}

fn other_definitions(found: &LocationsOutput, place: &Place) -> Option<String> {
    let others = found.locations.iter().filter(|other| *other != place);
    let others: Vec<String> =
        others.map(|other| format!("{}:{}", other.path, LineColumn::from(other.range.start))).collect();
    (!others.is_empty()).then(|| format!("it is also defined at {}", others.join(", ")))
}
