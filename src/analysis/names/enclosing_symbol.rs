//! Names of the functions and types that the places of an answer lie in, by the syntax trees of
//! their files.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use super::outline_cache::{EnclosingSymbol, FileOutline};
use crate::analysis::answer::{DiagnosticItem, HierarchyItem};
use crate::analysis::ask::fallback;
use crate::analysis::context::Context;
use crate::analysis::items::place::Place;
use crate::syntax;
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// The longest wait of an otherwise complete answer for the names of enclosing symbols.
pub(crate) const ENCLOSING_SYMBOLS_TIMEOUT: Duration = Duration::from_millis(200);
/// The most files whose findings get enclosing symbols. More files are a check of a whole
/// project, whose list is long enough.
const MAX_FILES_OF_NAMED_FINDINGS: usize = 16;

impl Context {
    /// The innermost enclosing symbol with a body for each of `places` (a path in the form of
    /// answers, and a position). `None` at the top level, outside the workspace, in a language
    /// without a grammar, and after `deadline`. An outline that took longer is cached for the next
    /// request.
    pub(crate) async fn enclosing_symbols(
        &self,
        places: &[(&str, Position)],
        deadline: Instant,
    ) -> Vec<Option<EnclosingSymbol>> {
        let names: BTreeSet<&str> = places.iter().map(|(path, _)| *path).collect();
        let files: Vec<(&str, WorkspacePath)> = names
            .into_iter()
            .filter_map(|name| Some((name, self.workspace.path(name.as_ref()).ok()?)))
            .collect();
        let mut outlines: HashMap<&str, FileOutline> = HashMap::new();
        let mut unknown = Vec::new();
        for (name, path) in &files {
            match self.kept_outline(path) {
                Some(outline) => drop(outlines.insert(name, outline)),
                None => unknown.push(path.clone()),
            }
        }
        if !unknown.is_empty() {
            let mut parsed = self.parse_outlines(unknown, deadline).await;
            for (name, path) in &files {
                let outline = parsed.remove(path).or_else(|| self.kept_outline(path));
                outlines.extend(outline.map(|outline| (*name, outline)));
            }
        }
        let around = |(path, at): &(&str, Position)| outlines.get(path)?.innermost(*at);
        places.iter().map(around).collect()
    }

    /// Adds the enclosing symbol to each of `places`, if it is available in short time.
    pub(crate) async fn name_enclosing_symbols(&self, places: &mut [Place]) {
        let at: Vec<_> = places.iter().map(|place| (place.path.as_str(), place.range.start)).collect();
        let found = self.enclosing_symbols(&at, Instant::now() + ENCLOSING_SYMBOLS_TIMEOUT).await;
        for (place, symbol) in places.iter_mut().zip(found) {
            place.enclosing = symbol.map(|symbol| symbol.name.to_string());
        }
    }

    /// Adds the enclosing symbol to each finding, if the findings are in few files.
    pub(crate) async fn name_symbols_of_findings(&self, items: &mut [DiagnosticItem]) {
        let files = items.chunk_by(|one, other| one.path == other.path).count();
        if files > MAX_FILES_OF_NAMED_FINDINGS {
            return;
        }
        let at: Vec<_> = items.iter().map(|item| (item.path.as_str(), item.range.start)).collect();
        let found = self.enclosing_symbols(&at, Instant::now() + ENCLOSING_SYMBOLS_TIMEOUT).await;
        for (item, symbol) in items.iter_mut().zip(found) {
            if let Some(symbol) = symbol {
                item.enclosing = Some(symbol.name.to_string());
            }
        }
    }

    /// Adds the container to each item of a hierarchy (for a method its class), if it is known
    /// before `deadline`.
    pub(crate) async fn name_containers(&self, items: &mut [HierarchyItem], deadline: Instant) {
        let mut places = Vec::new();
        each_item(items, &mut |item| places.push((item.place.path.clone(), item.place.range.start)));
        let at: Vec<_> = places.iter().map(|(path, start)| (path.as_str(), *start)).collect();
        let mut found = self.enclosing_symbols(&at, deadline).await.into_iter();
        each_item(items, &mut |item| {
            let around = found.next().flatten().map(|symbol| symbol.name.to_string());
            item.place.enclosing = around.and_then(|around| container_of(&item.name, around));
        });
    }

    fn kept_outline(&self, path: &WorkspacePath) -> Option<FileOutline> {
        // The cached outline is that of the disk.
        if self.view.unsaved(path).is_some() {
            return None;
        }
        self.outlines.get(path, self.workspace.stamp(path).ok()?)
    }

    /// The outlines of the files at `paths` that can be parsed. Returns none if that takes longer
    /// than `deadline`, but caches the outlines of files on disk.
    async fn parse_outlines(
        &self,
        paths: Vec<WorkspacePath>,
        deadline: Instant,
    ) -> HashMap<WorkspacePath, FileOutline> {
        let (kept, view) = (self.outlines.clone(), self.view.clone());
        let until = deadline.max(Instant::now() + syntax::DEADLINE);
        let parsed = fallback::run_in_background(self, move |workspace, catalogue| {
            let parse = |path: WorkspacePath| {
                let stamp = workspace.stamp(&path).ok()?;
                let symbols = syntax::symbols(workspace, catalogue, &path, until).ok()??;
                let outline = FileOutline::new(&symbols);
                if view.unsaved(&path).is_none() {
                    kept.insert(path.clone(), stamp, outline.clone());
                }
                Some((path, outline))
            };
            Ok(paths.into_iter().filter_map(parse).collect())
        });
        match tokio::time::timeout_at(deadline.into(), parsed).await {
            Ok(parsed) => parsed.unwrap_or_default(),
            Err(_) => HashMap::new(),
        }
    }
}

fn each_item(items: &mut [HierarchyItem], visit: &mut impl FnMut(&mut HierarchyItem)) {
    for item in items {
        visit(item);
        each_item(&mut item.children, visit);
    }
}

/// The container of a symbol: for the name of `method` in `Class.method` it is the class, else the
/// enclosing symbol.
fn container_of(name: &str, around: String) -> Option<String> {
    match around.strip_suffix(name) {
        Some("") => None,
        Some(above) => Some(above.strip_suffix('.').map_or_else(|| around.clone(), str::to_owned)),
        None => Some(around),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn container_of_method_is_its_class_and_function_has_none() {
        let container = |name: &str, around: &str| container_of(name, around.to_owned());
        assert_eq!(container("total", "Cart.total").as_deref(), Some("Cart"));
        assert_eq!(container("main", "main"), None);
        assert_eq!(container("app.py", "main").as_deref(), Some("main"));
        assert_eq!(container("total", "subtotal").as_deref(), Some("subtotal"));
    }
}
