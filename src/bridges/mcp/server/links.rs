//! Resource links to the files named in an answer.

use std::collections::BTreeSet;
use std::path::Path;

use rmcp::model::{ContentBlock, Resource};
use serde_json::Value;

use crate::analysis::items::place::file_places;
use crate::lsp::uri;

/// The limit on links. The answer itself has all places.
const MAX_RESOURCE_LINKS: usize = 5;

/// Returns links to the files of the places in `answer` about the workspace `root`, in order and
/// without duplicates. Diagnostics get no links.
pub(super) fn resource_links(answer: &Value, root: &Path) -> Vec<ContentBlock> {
    let mut found = ResourceLinkCollector { root, seen: BTreeSet::new(), links: Vec::new() };
    found.collect(answer);
    found.links
}

struct ResourceLinkCollector<'a> {
    root: &'a Path,
    seen: BTreeSet<String>,
    links: Vec<ContentBlock>,
}

impl ResourceLinkCollector<'_> {
    fn collect(&mut self, value: &Value) {
        if self.links.len() >= MAX_RESOURCE_LINKS {
            return;
        }
        match value {
            Value::Object(map) => {
                let has_place = map.contains_key("at") && !map.contains_key("severity");
                let single = map.get("path").and_then(Value::as_str).filter(|_| has_place);
                // Skips files outside the workspace, which cannot be read through the link, paths
                // with a scheme, and escaped names, which differ from the file's own.
                if let Some(path) = single.or(file_places(value).map(|(path, _)| path))
                    && !path.starts_with('/')
                    && !path.contains("://")
                    && self.root.join(path).exists()
                    && self.seen.insert(path.to_owned())
                {
                    let uri = uri::from_path(&self.root.join(path));
                    self.links.push(ContentBlock::resource_link(Resource::new(uri, path)));
                }
                map.values().for_each(|inner| self.collect(inner));
            }
            Value::Array(items) => items.iter().for_each(|inner| self.collect(inner)),
            _ => {}
        }
    }
}
