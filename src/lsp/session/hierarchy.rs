//! Call and type hierarchies (LSP 3.17), level by level, within a depth and a deadline.

use std::collections::HashSet;

use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare, Request,
    TypeHierarchyPrepare, TypeHierarchySubtypes, TypeHierarchySupertypes,
};
use lsp_types::{CallHierarchyPrepareParams, WorkDoneProgressParams};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::ask::{AskError, SessionAnswer};
use super::decode::{PositionDecoder, elements, kind};
use super::live_session::Session;
use super::request::{
    DependencyScope, DocumentRequest, PlaceInText, WorkspaceRequest, text_document_position,
};
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::model::{FileRef, HierarchyNode};
use crate::text::Range;
use crate::workspace::WorkspacePath;

/// The direction in which a hierarchy is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HierarchyDirection {
    /// The callers of a function.
    Callers,
    /// The callees of a function.
    Callees,
    /// The supertypes of a type.
    Supertypes,
    /// The subtypes of a type.
    Subtypes,
}

/// The maximum number of nodes that are requested.
const MAX_HIERARCHY_NODES: usize = 500;
/// The maximum number of call sites between one pair of functions.
const MAX_HIERARCHY_CALL_SITES: usize = 100;

impl HierarchyDirection {
    /// Returns the request for the item at a position.
    pub(crate) fn prepare_method(self) -> &'static str {
        match self {
            Self::Callers | Self::Callees => CallHierarchyPrepare::METHOD,
            Self::Supertypes | Self::Subtypes => TypeHierarchyPrepare::METHOD,
        }
    }

    fn next(self) -> &'static str {
        match self {
            Self::Callers => CallHierarchyIncomingCalls::METHOD,
            Self::Callees => CallHierarchyOutgoingCalls::METHOD,
            Self::Supertypes => TypeHierarchySupertypes::METHOD,
            Self::Subtypes => TypeHierarchySubtypes::METHOD,
        }
    }

    /// Returns the item within an element of the response.
    fn item(self, element: &Value) -> &Value {
        match self {
            Self::Callers => &element["from"],
            Self::Callees => &element["to"],
            Self::Supertypes | Self::Subtypes => element,
        }
    }
}

/// A walk through a hierarchy: the visited nodes, and the remaining limits.
struct HierarchyWalk<'a> {
    session: &'a Session,
    hierarchy: HierarchyDirection,
    deadline: Instant,
    seen: HashSet<(FileRef, Range)>,
    left: usize,
    /// The number of call sites that were left out.
    left_out: usize,
}

impl Session {
    /// Returns the hierarchy of the symbol at `place`, `depth` levels deep (at least one).
    pub(crate) async fn hierarchy(
        &self,
        hierarchy: HierarchyDirection,
        path: &WorkspacePath,
        place: &(impl PlaceInText + ?Sized),
        depth: usize,
        deadline: Instant,
    ) -> Result<SessionAnswer<Vec<HierarchyNode>>, AskError> {
        let _use_guard = self.mark_in_use();
        // Those of types are the same.
        let params = |snapshot: &Snapshot, encoding| {
            Some(CallHierarchyPrepareParams {
                text_document_position_params: text_document_position(snapshot, place, encoding)?,
                work_done_progress_params: WorkDoneProgressParams::default(),
            })
        };
        let request =
            DocumentRequest { method: hierarchy.prepare_method(), scope: DependencyScope::Project, params };
        let answer = self.ask_with_retry(path, request, deadline).await?;
        let mut walk = HierarchyWalk {
            session: self,
            hierarchy,
            deadline,
            seen: HashSet::new(),
            left: MAX_HIERARCHY_NODES,
            left_out: 0,
        };
        let mut roots = Vec::new();
        for item in elements(&answer.value) {
            if let Some(mut root) = walk.decode_node(item, &Value::Null, &FileRef::Inside(path.clone())) {
                walk.descend(&mut root, item.clone(), depth.max(1)).await?;
                roots.push(root);
            }
        }
        let SessionAnswer { snapshot, unfinished_work: working, .. } = answer;
        Ok(SessionAnswer {
            value: roots,
            snapshot,
            unfinished_work: working,
            undecodable: 0,
            left_out: walk.left_out,
        })
    }
}

impl HierarchyWalk<'_> {
    /// Decodes LSP 3.17 *CallHierarchyItem* or *TypeHierarchyItem*.
    fn decode_node(&mut self, item: &Value, sites: &Value, parent: &FileRef) -> Option<HierarchyNode> {
        let mut texts = PositionDecoder::of_workspace(self.session);
        let location = json!({ "uri": item["uri"], "range": item["selectionRange"] });
        let location = texts.location(&location)?;
        let file = if self.hierarchy == HierarchyDirection::Callers { &location.file } else { parent };
        self.left_out += elements(sites).count().saturating_sub(MAX_HIERARCHY_CALL_SITES);
        let sites = elements(sites)
            .take(MAX_HIERARCHY_CALL_SITES)
            .filter_map(|site| texts.range_in(file, site))
            .collect();
        Some(HierarchyNode {
            // tsserver calls the top level of a file by its absolute path.
            name: self.session.workspace.with_relative_paths(item["name"].as_str()?),
            kind: kind(&item["kind"]),
            detail: item["detail"]
                .as_str()
                .filter(|detail| !detail.is_empty())
                .map(|detail| self.session.workspace.with_relative_paths(detail)),
            location,
            sites,
            children: Vec::new(),
            cut: false,
        })
    }

    async fn descend(&mut self, node: &mut HierarchyNode, item: Value, depth: usize) -> Result<(), AskError> {
        let new = self.seen.insert((node.location.file.clone(), node.location.range));
        if !new || depth == 0 || self.left == 0 || Instant::now() >= self.deadline {
            node.cut = true;
            return Ok(());
        }
        // The item is returned to the server unchanged.
        let request = WorkspaceRequest { method: self.hierarchy.next(), params: json!({ "item": item }) };
        let (found, _) = self.session.ask_workspace(request, self.deadline).await?;
        for element in elements(&found) {
            if self.left == 0 {
                node.cut = true;
                break;
            }
            let item = self.hierarchy.item(element);
            let Some(mut child) = self.decode_node(item, &element["fromRanges"], &node.location.file) else {
                continue;
            };
            self.left -= 1;
            if depth > 1 {
                Box::pin(self.descend(&mut child, item.clone(), depth - 1)).await?;
            }
            node.children.push(child);
        }
        Ok(())
    }
}
