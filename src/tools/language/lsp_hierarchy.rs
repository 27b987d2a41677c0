//! `lsp_calls` and `lsp_types`: callers and callees, supertypes and subtypes.

use std::time::Instant;

use crate::analysis::answer::{Answer, HierarchyItem, HierarchyOutput};
use crate::analysis::ask::fallback;
use crate::analysis::ask::fallback::run_in_background;
use crate::analysis::ask::question::{LanguageQuestion, QuestionOutcome};
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::analysis::items::answer_places::{is_hidden, path_of, to_place};
use crate::analysis::items::budget;
use crate::analysis::items::budget::ListBudget;
use crate::analysis::items::named_places::{abbreviate_list, address_of};
use crate::analysis::names::enclosing_symbol::ENCLOSING_SYMBOLS_TIMEOUT;
use crate::analysis::target::Target;
use crate::lsp::model::{FileRef, HierarchyNode};
use crate::lsp::session::hierarchy::HierarchyDirection;
use crate::policy::request::CallSubjects;
use crate::syntax;
use crate::syntax::{CallWithin, OccurrenceSense};
use crate::text::{Position, Range, build_glob_set, read_glob};
use crate::tools::api::address::Address;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arguments of `lsp_calls`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CallsArgs {
    /// The symbol.
    #[serde(flatten)]
    pub address: Address,
    /// `incoming`: callers. `outgoing`: callees.
    pub direction: CallDirection,
    /// Levels (1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub depth: Option<usize>,
}

/// The direction of a call hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum CallDirection {
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    Incoming,
    #[allow(missing_docs)] // as above
    Outgoing,
}

/// The arguments of `lsp_types`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TypesArgs {
    /// The symbol.
    #[serde(flatten)]
    pub address: Address,
    /// Types above or below it.
    pub direction: TypeDirection,
    /// Levels (1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub depth: Option<usize>,
}

/// The most calls that a note names.
const MAX_NAMED_CALLS: usize = 8;

/// The direction of a type hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum TypeDirection {
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    Supertypes,
    #[allow(missing_docs)] // as above
    Subtypes,
}

/// The `lsp_calls` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspCalls;

impl Tool for LspCalls {
    type Args = CallsArgs;
    type Output = Answer<HierarchyOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_calls",
            "Call hierarchy",
            "Tree of the callers or callees of a function. For uses that are not calls use `lsp_references`. \
             Example: {\"symbol\": \"Cart.add\", \"direction\": \"incoming\", \"depth\": 2}.",
        )
        .with_rank(22)
        .overlaid()
        .beyond_core()
    }

    fn subjects(&self, context: &Context, args: &CallsArgs) -> Result<CallSubjects, ToolError> {
        args.address.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: CallsArgs) -> Result<Answer<HierarchyOutput>, ToolError> {
        let hierarchy = match args.direction {
            CallDirection::Incoming => HierarchyDirection::Callers,
            CallDirection::Outgoing => HierarchyDirection::Callees,
        };
        run_with_containers(call.context, hierarchy, &args.address, args.depth).await
    }
}

/// The `lsp_types` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspTypes;

impl Tool for LspTypes {
    type Args = TypesArgs;
    type Output = Answer<HierarchyOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_types",
            "Type hierarchy",
            "Tree of the supertypes or subtypes of a class, interface or trait. For those of one method use \
             `lsp_implementation`. Example: {\"symbol\": \"Cart\", \"direction\": \"subtypes\"}.",
        )
        .with_rank(23)
        .overlaid()
        .beyond_core()
    }

    fn subjects(&self, context: &Context, args: &TypesArgs) -> Result<CallSubjects, ToolError> {
        args.address.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: TypesArgs) -> Result<Answer<HierarchyOutput>, ToolError> {
        let hierarchy = match args.direction {
            TypeDirection::Supertypes => HierarchyDirection::Supertypes,
            TypeDirection::Subtypes => HierarchyDirection::Subtypes,
        };
        run_with_containers(call.context, hierarchy, &args.address, args.depth).await
    }
}

/// Like [`run`], with the container of each item.
async fn run_with_containers(
    context: &Context,
    hierarchy: HierarchyDirection,
    address: &Address,
    depth: Option<usize>,
) -> Result<Answer<HierarchyOutput>, ToolError> {
    let mut answer = run(context, hierarchy, &address.target(context)?, depth.unwrap_or(1)).await?;
    context.name_containers(&mut answer.output.items, Instant::now() + ENCLOSING_SYMBOLS_TIMEOUT).await;
    Ok(answer)
}

/// Returns the hierarchy of the symbol at `target`, `depth` levels deep.
pub(crate) async fn run(
    context: &Context,
    hierarchy: HierarchyDirection,
    target: &Target,
    depth: usize,
) -> Result<Answer<HierarchyOutput>, ToolError> {
    context.install_for_target(target).await?;
    let deadline = context.server_deadline(context.config.settings.deadlines.hierarchy);
    let question = LanguageQuestion { method: hierarchy.prepare_method(), of_file: false };
    let sense = match hierarchy {
        HierarchyDirection::Callers => Some(OccurrenceSense::Call),
        HierarchyDirection::Subtypes => Some(OccurrenceSense::Heir),
        HierarchyDirection::Supertypes => Some(OccurrenceSense::Base),
        HierarchyDirection::Callees => None,
    };
    let outcome = context.question_of_all(target, question, sense, deadline, |session, path, place| {
        Box::pin(session.hierarchy(hierarchy, path, place, depth, deadline))
    });
    match outcome.await? {
        QuestionOutcome::Answered { mut value, place, session, status, verdict, mut notes, .. } => {
            let hidden = leave_out_hidden(context, hierarchy, &mut value);
            notes.extend((hidden > 0).then(|| format!("{hidden} are omitted: rules hide their files")));
            let unlisted = match hierarchy {
                HierarchyDirection::Callees => unlisted_calls(context, &value).await,
                _ => None,
            };
            let unlisted =
                unlisted.map(|calls| format!("{} does not resolve these calls: {calls}", session.server()));
            let built_in = leave_out_built_ins(context, hierarchy, &place.path, &mut value);
            notes.extend(
                (built_in > 0).then(|| format!("{built_in} calls of built-in functions are not listed")),
            );
            let mut budget = ListBudget::for_list(context, context.config.settings.limits.answer_items);
            let (items, rest) = items(context, value, &mut budget);
            notes.extend((rest > 0).then(|| format!("{rest} more are omitted: the answer is full")));
            let count = items.iter().map(descendant_count).sum();
            let direction = match hierarchy {
                HierarchyDirection::Callers => "incoming",
                HierarchyDirection::Callees => "outgoing",
                HierarchyDirection::Supertypes => "supertypes",
                HierarchyDirection::Subtypes => "subtypes",
            };
            let doubt = match items.is_empty() && unlisted.is_none() {
                true => context.empty_list_doubt(&session, &place, verdict, deadline).await,
                false => unlisted,
            };
            let output = HierarchyOutput { direction: direction.to_owned(), items, count };
            Ok(Answer::new(output, place.resolved, status, verdict, notes).with_doubt(doubt))
        }
        QuestionOutcome::Unanswered(unanswered) => Err(fallback::refusal_error(&unanswered.status)),
    }
}

/// The calls in the functions `roots` that are not a site of any callee, in words; `None` if all
/// are.
async fn unlisted_calls(context: &Context, roots: &[HierarchyNode]) -> Option<String> {
    let mut unlisted = Vec::new();
    for root in roots {
        let FileRef::Inside(path) = &root.location.file else { continue };
        let (path, at) = (path.clone(), root.location.range.start);
        let until = std::time::Instant::now() + syntax::DEADLINE;
        let file = path.clone();
        let calls = run_in_background(context, move |workspace, catalogue| {
            Ok(syntax::calls_within(workspace, catalogue, &file, at, until))
        });
        let is_listed = |call: &CallWithin| {
            let mut sites = root.children.iter().flat_map(|callee| &callee.sites);
            sites.any(|site| site.start <= call.position && call.position <= site.end)
        };
        let calls = calls.await.unwrap_or_default();
        let missing = calls.into_iter().filter(|call| !is_listed(call));
        unlisted
            .extend(missing.map(|call| format!("`{}` at {}", call.name, address_of(&path, call.position))));
    }
    let count = unlisted.len();
    (count > 0).then(|| abbreviate_list(unlisted.into_iter(), count, MAX_NAMED_CALLS))
}

/// The `nodes` that fit into `budget`, and the number of omitted ones. A node with omitted children
/// is marked `cut`.
fn items(
    context: &Context,
    nodes: Vec<HierarchyNode>,
    budget: &mut ListBudget,
) -> (Vec<HierarchyItem>, usize) {
    let (mut found, mut rest) = (Vec::new(), 0);
    for node in nodes {
        let inner = nodes_below(&node);
        let mut item = HierarchyItem {
            name: budget::name(node.name),
            kind: node.kind.name().to_owned(),
            detail: node.detail.map(budget::name),
            place: to_place(context, node.location),
            sites: starts(node.sites),
            children: Vec::new(),
            cut: node.cut,
        };
        if !budget.try_take(&item) {
            rest += 1 + inner;
            continue;
        }
        let (children, without) = items(context, node.children, budget);
        item.cut |= without > 0;
        item.children = children;
        rest += without;
        found.push(item);
    }
    (found, rest)
}

/// Removes from the trees below `roots` the items that only a hidden file reveals: those in it, and
/// the callees and supertypes of a root in it. Returns the number of removed items.
fn leave_out_hidden(context: &Context, hierarchy: HierarchyDirection, roots: &mut [HierarchyNode]) -> usize {
    let below = matches!(hierarchy, HierarchyDirection::Callees | HierarchyDirection::Supertypes);
    let is_hidden = |node: &HierarchyNode| is_hidden(&context.workspace, &node.location.file);
    let before: usize = roots.iter().map(nodes_below).sum();
    for root in roots.iter_mut() {
        if is_hidden(root) {
            root.detail = None;
            root.children.retain(|_| !below);
        }
        retain_nodes(&mut root.children, &|node| !is_hidden(node));
    }
    before - roots.iter().map(nodes_below).sum::<usize>()
}

/// Removes from the trees below `roots`, callees of a symbol in `origin`, the built-ins of the
/// language. Returns the number of removed items.
fn leave_out_built_ins(
    context: &Context,
    hierarchy: HierarchyDirection,
    origin: &WorkspacePath,
    roots: &mut [HierarchyNode],
) -> usize {
    let language = context.language_of(origin).ok().flatten();
    let language = language.and_then(|language| context.catalogue().languages.get(language));
    let Some(language) = language.filter(|_| hierarchy == HierarchyDirection::Callees) else { return 0 };
    let globs = language.built_ins.iter().filter_map(|glob| read_glob(glob, |_| ()).ok());
    let Ok(globs) = build_glob_set(globs) else { return 0 };
    let before: usize = roots.iter().map(nodes_below).sum();
    for root in roots.iter_mut() {
        retain_nodes(&mut root.children, &|node| !globs.is_match(path_of(&node.location.file)));
    }
    before - roots.iter().map(nodes_below).sum::<usize>()
}

fn retain_nodes(nodes: &mut Vec<HierarchyNode>, is_kept: &impl Fn(&HierarchyNode) -> bool) {
    nodes.retain(is_kept);
    nodes.iter_mut().for_each(|node| retain_nodes(&mut node.children, is_kept));
}

/// The starts of `ranges`, each once, because some servers list a call twice.
fn starts(ranges: Vec<Range>) -> Vec<Position> {
    let mut starts: Vec<Position> = ranges.into_iter().map(|range| range.start).collect();
    starts.dedup();
    starts
}

fn nodes_below(node: &HierarchyNode) -> usize {
    node.children.len() + node.children.iter().map(nodes_below).sum::<usize>()
}

fn descendant_count(item: &HierarchyItem) -> usize {
    item.children.len() + item.children.iter().map(descendant_count).sum::<usize>()
}
