//! `lsp_declaration`, `lsp_type_definition`, `lsp_implementation`, `lsp_references`: places of a
//! symbol.

use crate::analysis::answer::{Answer, LocationsOutput, Verdict};
use crate::analysis::ask::fallback;
use crate::analysis::ask::question::{LanguageQuestion, QuestionOutcome};
use crate::analysis::ask::resolved_position::ResolvedPosition;
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::analysis::items::answer_places::to_place;
use crate::analysis::items::budget::ListBudget;
use crate::analysis::target::Target;
use crate::lsp::model::{FileRef, Location};
use crate::lsp::session::operations::Navigation;
use crate::lsp::session::request::DependencyScope;
use crate::policy::request::CallSubjects;
use crate::syntax;
use crate::syntax::{DeclarationPlace, OccurrenceSense};
use crate::text::Position;
use crate::tools::api::address::Address;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// The `lsp_declaration` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspDeclaration;

impl Tool for LspDeclaration {
    type Args = Address;
    type Output = Answer<LocationsOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_declaration",
            "Declaration",
            "The declaration of a symbol (headers, interfaces), if it differs from the definition. Else use \
             `lsp_definition`. Example: {\"path\": \"src/cart.c\", \"symbol\": \"cart_add\"}.",
        )
        .overlaid()
        .beyond_core()
    }

    fn subjects(&self, context: &Context, args: &Address) -> Result<CallSubjects, ToolError> {
        args.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: Address) -> Result<Answer<LocationsOutput>, ToolError> {
        advised(run(call.context, Navigation::Declaration, &args.target(call.context)?, None).await?)
    }
}

/// The `lsp_type_definition` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspTypeDefinition;

impl Tool for LspTypeDefinition {
    type Args = Address;
    type Output = Answer<LocationsOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_type_definition",
            "Type definition",
            "The definition of the type of a variable or expression. For the type only use `lsp_hover`. \
             Example: {\"path\": \"shop/pay.py\", \"line\": 4, \"symbol\": \"cart\"}.",
        )
        .with_rank(21)
        .overlaid()
        .beyond_core()
    }

    fn subjects(&self, context: &Context, args: &Address) -> Result<CallSubjects, ToolError> {
        args.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: Address) -> Result<Answer<LocationsOutput>, ToolError> {
        advised(run(call.context, Navigation::TypeDefinition, &args.target(call.context)?, None).await?)
    }
}

/// The `lsp_implementation` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspImplementation;

impl Tool for LspImplementation {
    type Args = Address;
    type Output = Answer<LocationsOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_implementation",
            "Implementations",
            "Implementations of an interface, trait or abstract method. For a tree of classes use `lsp_types`. \
             Example: {\"path\": \"src/shape.ts\", \"symbol\": \"Shape.area\"}.",
        )
        .with_rank(20)
        .overlaid()
        .beyond_core()
    }

    fn subjects(&self, context: &Context, args: &Address) -> Result<CallSubjects, ToolError> {
        args.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: Address) -> Result<Answer<LocationsOutput>, ToolError> {
        run_with_enclosing_symbols(
            call.context,
            Navigation::Implementation,
            &args.target(call.context)?,
            None,
        )
        .await
    }
}

/// The arguments of `lsp_references`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReferencesArgs {
    /// The symbol.
    #[serde(flatten)]
    pub address: Address,
    /// Default: 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

const DEFAULT_REFERENCE_LIMIT: usize = 100;

/// The `lsp_references` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspReferences;

impl Tool for LspReferences {
    type Args = ReferencesArgs;
    type Output = Answer<LocationsOutput>;

    fn card(&self) -> Card {
        Card::reading("lsp_references", "References", REFERENCES_DESCRIPTION)
            .with_rank(4)
            .overlaid()
            .in_lsp_profile()
    }

    fn subjects(&self, context: &Context, args: &ReferencesArgs) -> Result<CallSubjects, ToolError> {
        args.address.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: ReferencesArgs) -> Result<Answer<LocationsOutput>, ToolError> {
        let limit = Some(args.limit.unwrap_or(DEFAULT_REFERENCE_LIMIT));
        let target = args.address.target(call.context)?;
        run_with_enclosing_symbols(call.context, Navigation::References, &target, limit).await
    }
}

const REFERENCES_DESCRIPTION: &str = "All uses of a symbol, with line and enclosing function, without namesakes. Use it before changing or removing one. Not \
             for text that is no name (`grep`).";

/// Like [`run`], with the enclosing symbols of a server's places. Programs do not use these.
async fn run_with_enclosing_symbols(
    context: &Context,
    navigation: Navigation,
    target: &Target,
    limit: Option<usize>,
) -> Result<Answer<LocationsOutput>, ToolError> {
    let mut answer = run(context, navigation, target, limit).await?;
    if answer.verdict != Verdict::Hints {
        context.name_enclosing_symbols(&mut answer.output.locations.0).await;
    }
    advised(answer)
}

/// Applies [`fallback::advised_answer`] to an answer with places.
pub(super) fn advised(answer: Answer<LocationsOutput>) -> Result<Answer<LocationsOutput>, ToolError> {
    fallback::advised_answer(answer, |output| output.count > 0)
}

/// Returns the locations for the symbol at `target`, at most `limit` (by default the settings'
/// limit).
pub(crate) async fn run(
    context: &Context,
    navigation: Navigation,
    target: &Target,
    limit: Option<usize>,
) -> Result<Answer<LocationsOutput>, ToolError> {
    context.install_for_target(target).await?;
    let deadlines = &context.config.settings.deadlines;
    let usual =
        if navigation == Navigation::References { deadlines.references } else { deadlines.definition };
    let deadline = context.server_deadline(usual);
    let mut question =
        LanguageQuestion { method: navigation.method(), of_file: sense_of(navigation).is_none() };
    let limit = limit.unwrap_or(context.config.settings.limits.answer_items);
    let sense = sense_of(navigation);
    let ask = |question| {
        context.question_of_all(target, question, sense, deadline, |session, path, place| {
            Box::pin(session.navigate(navigation, path, place, deadline))
        })
    };
    let mut outcome = ask(question).await?;
    if navigation == Navigation::Definition {
        if may_be_defined_elsewhere(context, &outcome, deadline).await {
            question.of_file = false;
            outcome = ask(question).await?;
        }
        if let QuestionOutcome::Answered { value, place, verdict, notes, session, .. } = &mut outcome
            && are_declarations(context, place, value)
            && !leads_back_to_declaration(context, place, value)
            && let Some(by_text) = definition_by_text(context, place, &value[0]).await
        {
            *value = vec![by_text];
            *verdict = Verdict::Partial;
            notes.push(format!(
                "{} knows only the declaration; the definition comes from text search",
                session.server()
            ));
        }
        if let QuestionOutcome::Answered { value, place, .. } = &mut outcome
            && leads_back_to_declaration(context, place, value)
            && let Some(resolved) = &place.resolved
        {
            let (range, text) = (resolved.place.range, resolved.place.text.clone());
            *value = vec![Location { file: FileRef::Inside(place.path.clone()), range, text }];
        }
    }
    if let Some(for_text) = outcome.for_text(Vec::is_empty) {
        let by_text = fallback::locations(context, for_text, navigation, limit).await?;
        if by_text.output.count > 0 {
            return Ok(by_text);
        }
    }
    match outcome {
        QuestionOutcome::Answered { value, left_out, place, session, status, verdict, notes } => {
            let doubt = match value.is_empty() {
                true => context.empty_list_doubt(&session, &place, verdict, deadline).await,
                false => None,
            };
            let doubt = match navigation {
                Navigation::Definition => {
                    doubt.or_else(|| unresolved_import_note(context, &value, &place, &status.server))
                }
                _ => doubt,
            };
            let output = output(context, value, left_out, limit, navigation);
            Ok(Answer::new(output, place.resolved, status, verdict, notes).with_doubt(doubt))
        }
        QuestionOutcome::Unanswered(unanswered) => {
            fallback::locations(context, unanswered, navigation, limit).await
        }
    }
}

/// Returns true if the server found only the requested place or a declaration before it knew all
/// files. Waits until the server is ready.
async fn may_be_defined_elsewhere(
    context: &Context,
    outcome: &QuestionOutcome<Vec<Location>>,
    deadline: Instant,
) -> bool {
    let QuestionOutcome::Answered { value, place, session, .. } = outcome else { return false };
    let file = FileRef::Inside(place.path.clone());
    let is_asked = |found: &Location| found.file == file && found.range.start.line == place.position.line;
    if value.is_empty() || leads_back_to_declaration(context, place, value) {
        return false;
    }
    if !value.iter().all(is_asked) && !are_declarations(context, place, value) {
        return false;
    }
    if session.unfinished_work().is_none() {
        return session.has_no_index_of(&place.path);
    }
    session
        .wait_ready(
            DependencyScope::Project,
            deadline - deadline.saturating_duration_since(Instant::now()) / 5,
        )
        .await;
    true
}

/// Returns true if `found`, the response about a definition, is its declaration. Some servers lead
/// from a definition to its declaration and back.
fn leads_back_to_declaration(context: &Context, place: &ResolvedPosition, found: &[Location]) -> bool {
    are_declarations(context, place, found)
        && declares(context, place, &place.path, place.position) == Some(false)
}

/// The only definition in the text of the symbol that `declaration` declares, named at `place`.
async fn definition_by_text(
    context: &Context,
    place: &ResolvedPosition,
    declaration: &Location,
) -> Option<Location> {
    let name = &place.resolved.as_ref()?.symbol;
    let until = std::time::Instant::now() + syntax::DEADLINE;
    let declared =
        |path: &WorkspacePath, at| context.declared_at(path, DeclarationPlace::Name(at), name, until);
    let FileRef::Inside(header) = &declaration.file else { return None };
    let containers = declared(header, declaration.range.start)?.containers;
    let found = fallback::workspace_symbols_named(context, name, until).await.ok()?;
    let mut defined = found.symbols.into_iter().map(|symbol| symbol.location).filter(|location| {
        let FileRef::Inside(path) = &location.file else { return false };
        let has_headers = context.language_of(path).ok().flatten().is_some_and(syntax::has_headers);
        let there = declared(path, location.range.start).filter(|_| has_headers);
        there.is_some_and(|there| !there.is_only_declared && there.containers == containers)
    });
    let only = defined.next()?;
    defined.next().is_none().then_some(only)
}

/// Returns true if all of `found` are declarations of a symbol that is defined elsewhere.
fn are_declarations(context: &Context, place: &ResolvedPosition, found: &[Location]) -> bool {
    let is_declaration = |location: &Location| match &location.file {
        FileRef::Inside(path) => declares(context, place, path, location.range.start) == Some(true),
        FileRef::Outside(_) | FileRef::Virtual(_) => false,
    };
    !found.is_empty() && found.iter().all(is_declaration)
}

/// Returns true if the name at `place` is only declared at the position, and defined elsewhere.
/// `None` in languages without separate declarations, and if it is neither declared nor defined
/// there.
fn declares(context: &Context, place: &ResolvedPosition, path: &WorkspacePath, at: Position) -> Option<bool> {
    let language = context.language_of(path).ok()??;
    let name = place.resolved.as_ref().filter(|_| syntax::has_headers(language))?.symbol.as_str();
    let until = std::time::Instant::now() + syntax::DEADLINE;
    let declared = context.declared_at(path, DeclarationPlace::Name(at), name, until);
    declared.map(|declared| declared.is_only_declared)
}

/// The reason that an unresolved definition may exist: the name is imported, and the server did not
/// follow the import.
fn unresolved_import_note(
    context: &Context,
    found: &[Location],
    place: &ResolvedPosition,
    server: &str,
) -> Option<String> {
    let file = FileRef::Inside(place.path.clone());
    if found.iter().any(|location| location.file != file) {
        return None;
    }
    let language = context.language_file_unchecked(place.path.clone()).ok()?.language?;
    let text = context.text(&place.path).ok()?.to_string();
    let until = std::time::Instant::now() + syntax::DEADLINE;
    let name = place.resolved.as_ref().map(|resolved| resolved.symbol.as_str()).unwrap_or_default();
    let is_import = |location: &Location| {
        syntax::is_import(&language, &place.path, &text, location.range.start.line, name, until)
    };
    if !found.iter().all(is_import) {
        return None;
    }
    let module = syntax::imported_from(&language, &place.path, &text, place.position, until)?;
    let set_up = context.set_up_notes(server, &place.path).into_iter().map(|note| format!("; {note}"));
    let set_up: String = set_up.collect();
    Some(format!("`{name}` comes from an import of `{module}`, which {server} does not find{set_up}"))
}

/// The kind of occurrences that the request covers, if it is a request for all of them.
fn sense_of(navigation: Navigation) -> Option<OccurrenceSense> {
    match navigation {
        Navigation::References => Some(OccurrenceSense::Any),
        Navigation::Implementation => Some(OccurrenceSense::Implementation),
        Navigation::Definition | Navigation::Declaration | Navigation::TypeDefinition => None,
    }
}

fn output(
    context: &Context,
    mut found: Vec<Location>,
    left_out: usize,
    limit: usize,
    navigation: Navigation,
) -> LocationsOutput {
    if navigation == Navigation::References || found.len() > 1 {
        found.sort_by(|a, b| (&a.file, a.range).cmp(&(&b.file, b.range)));
    }
    let count = found.len() + left_out;
    let locations = found.into_iter().map(|location| to_place(context, location));
    let locations = ListBudget::for_list(context, limit).fill(locations, limit);
    LocationsOutput {
        has_more: count > locations.len(),
        count,
        locations: locations.into(),
        ..LocationsOutput::default()
    }
}
