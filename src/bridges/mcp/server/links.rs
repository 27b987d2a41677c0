//! Resource links to the files that an answer points at.

use std::collections::BTreeSet;

use rmcp::model::{ContentBlock, Resource};
use serde_json::Value;

/// More links than this help nobody; the answer has all places.
const MAX_RESOURCE_LINKS: usize = 5;

/// Links to the files of the places in `answer`, in their order, each once. A place is an object with `path` and `uri`.
pub(super) fn resource_links(answer: &Value) -> Vec<ContentBlock> {
    let mut found = ResourceLinkCollector { seen: BTreeSet::new(), links: Vec::new() };
    found.collect(answer);
    found.links
}

struct ResourceLinkCollector {
    seen: BTreeSet<String>,
    links: Vec<ContentBlock>,
}

impl ResourceLinkCollector {
    fn collect(&mut self, value: &Value) {
        if self.links.len() >= MAX_RESOURCE_LINKS {
            return;
        }
        match value {
            Value::Object(map) => {
                let text = |key: &str| map.get(key).and_then(Value::as_str);
                if let (Some(path), Some(uri)) = (text("path"), text("uri"))
                    && uri.starts_with("file://")
                    // A file outside the workspace could not be read through the link.
                    && !path.starts_with('/')
                    && self.seen.insert(uri.to_owned())
                {
                    self.links.push(ContentBlock::resource_link(Resource::new(uri, path)));
                }
                map.values().for_each(|inner| self.collect(inner));
            }
            Value::Array(items) => items.iter().for_each(|inner| self.collect(inner)),
            _ => {}
        }
    }
}
