//! Callers and callees, supertypes and subtypes, as trees.

use crate::analysis::answer::{HierarchyItem, HierarchyOutput};
use crate::text::LineColumn;

use super::terminal::display::{BOLD, DIM, KIND, count};
use super::terminal::escape;
use super::terminal::tree;
use super::terminal::tree::RenderedTreeNode;
use super::{DisplayCapabilities, locations};

/// The number of call sites that are listed.
const MAX_SHOWN_CALL_SITES: usize = 6;

/// Renders each queried symbol with its tree, and on a terminal the number of nodes.
pub(crate) fn render(output: &HierarchyOutput, display: &DisplayCapabilities) -> String {
    if output.items.is_empty() {
        return String::new();
    }
    let roots: Vec<RenderedTreeNode> = output.items.iter().map(|item| node(item, display)).collect();
    let mut out = tree::render(&roots);
    if display.terminal {
        out.push_str(&format!("\n{}\n", display.paint(DIM, &count_sentence(output))));
    }
    out
}

/// Formats a count, such as `3 callers` or `no subtypes`.
pub(crate) fn count_sentence(output: &HierarchyOutput) -> String {
    let one = match output.direction.as_str() {
        "incoming" => "caller",
        "outgoing" => "callee",
        "supertypes" => "supertype",
        "subtypes" => "subtype",
        _ => "node",
    };
    if output.count == 0 { format!("no {one}s") } else { count(output.count, one) }
}

fn node(item: &HierarchyItem, display: &DisplayCapabilities) -> RenderedTreeNode {
    let kind = display.paint(KIND, &escape::words(&item.kind));
    let mut line = format!("{kind} {}", display.paint(BOLD, &escape::words(&item.name)));
    if let Some(detail) =
        item.detail.as_deref().map(escape::words).filter(|detail| !detail.is_empty() && *detail != item.name)
    {
        line.push_str(&display.paint(DIM, &format!(" {detail}")));
    }
    line.push_str(&format!("  {}", locations::address(&item.place.path, &item.place.range, display)));
    line.push_str(&display.paint(DIM, &sites(item)));
    if item.cut {
        line.push_str(&display.paint(DIM, "  …"));
    }
    RenderedTreeNode { line, children: item.children.iter().map(|child| node(child, display)).collect() }
}

fn sites(item: &HierarchyItem) -> String {
    if item.sites.is_empty() {
        return String::new();
    }
    let named: Vec<String> = item
        .sites
        .iter()
        .take(MAX_SHOWN_CALL_SITES)
        .map(|site| LineColumn::from(*site).to_string())
        .collect();
    let more = if item.sites.len() > MAX_SHOWN_CALL_SITES { ", …" } else { "" };
    format!("  ({} at {}{more})", count(item.sites.len(), "call"), named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::items::place::Place;
    use crate::text::{Position, Range};

    fn item(name: &str, line: u32, children: Vec<HierarchyItem>) -> HierarchyItem {
        HierarchyItem {
            name: name.into(),
            kind: "function".into(),
            detail: None,
            place: Place {
                path: "a.py".into(),
                enclosing: None,
                range: Range::empty(Position::new(line, 4)),
                text: None,
                why: None,
            },
            sites: Vec::new(),
            children,
            cut: false,
        }
    }

    #[test]
    fn call_hierarchy_is_rendered_as_a_tree() {
        let mut main = item("main", 20, vec![]);
        main.sites = vec![Position::new(21, 8), Position::new(24, 8)];
        main.cut = true;
        let root = item("greet", 0, vec![main, item("other\x07", 30, vec![])]);
        let output = HierarchyOutput { direction: "incoming".into(), items: vec![root], count: 2 };
        let expected = "function greet  a.py:1:5\n├─ function main  a.py:21:5  (2 calls at 22:9, 25:9)  …\n\
                        └─ function other\\u{7}  a.py:31:5\n";
        assert_eq!(render(&output, &DisplayCapabilities::PLAIN), expected);
        let terminal = DisplayCapabilities { terminal: true, ..DisplayCapabilities::PLAIN };
        assert_eq!(render(&output, &terminal), format!("{expected}\n2 callers\n"));
    }
}
