//! `lsp_calls` and `lsp_types`: who calls it and what it calls, what it derives from and what derives from it.

use super::answer::{Answer, HierarchyItem, HierarchyOutput};
use super::context::Context;
use super::error::ToolError;
use super::fallback;
use super::lsp_navigate;
use super::question::{Outcome, Question};
use super::target::Target;
use crate::lsp::hierarchy::Hierarchy;
use crate::lsp::model::HierarchyNode;

/// Answers the hierarchy of what stands at `target`, `depth` levels deep.
pub async fn run(
    context: &Context,
    hierarchy: Hierarchy,
    target: &Target,
    depth: usize,
) -> Result<Answer<HierarchyOutput>, ToolError> {
    context.prepare(target).await?;
    let deadline = context.deadline(context.config.settings.deadlines.hierarchy);
    let question = Question { method: hierarchy.prepare(), of_file: false };
    match context
        .question(target, question, deadline, |session, path, position| {
            Box::pin(session.hierarchy(hierarchy, path, position, depth, deadline))
        })
        .await?
    {
        Outcome::Answered { value, place, status, verdict, notes } => {
            let items: Vec<HierarchyItem> = value.into_iter().map(|node| item(context, node)).collect();
            let count = items.iter().map(below).sum();
            let direction = match hierarchy {
                Hierarchy::Callers => "incoming",
                Hierarchy::Callees => "outgoing",
                Hierarchy::Supertypes => "supertypes",
                Hierarchy::Subtypes => "subtypes",
            };
            let output = HierarchyOutput { direction: direction.to_owned(), items, count };
            Ok(Answer::new(output, place.resolved, status, verdict, notes))
        }
        Outcome::Unanswered(unanswered) => Err(fallback::refusal(&unanswered.status)),
    }
}

fn item(context: &Context, node: HierarchyNode) -> HierarchyItem {
    HierarchyItem {
        name: node.name,
        kind: node.kind.name().to_owned(),
        detail: node.detail,
        place: lsp_navigate::place(context, node.location),
        sites: node.sites,
        children: node.children.into_iter().map(|child| item(context, child)).collect(),
        cut: node.cut,
    }
}

fn below(item: &HierarchyItem) -> usize {
    item.children.len() + item.children.iter().map(below).sum::<usize>()
}
