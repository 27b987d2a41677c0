//! Trees, with lines between each node and its children.

/// A node: its line (safe text of one line) and its children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RenderedTreeNode {
    /// The node's line.
    pub(crate) line: String,
    /// The node's children.
    pub(crate) children: Vec<RenderedTreeNode>,
}

/// Renders the trees, with the roots at the margin.
pub(crate) fn render(roots: &[RenderedTreeNode]) -> String {
    let mut out = String::new();
    let mut stack: Vec<(&RenderedTreeNode, String, String)> =
        roots.iter().rev().map(|root| (root, String::new(), String::new())).collect();
    while let Some((node, first, rest)) = stack.pop() {
        out.push_str(&first);
        out.push_str(node.line.trim_end());
        out.push('\n');
        for (index, child) in node.children.iter().enumerate().rev() {
            let last = index + 1 == node.children.len();
            let (branch, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            stack.push((child, format!("{rest}{branch}"), format!("{rest}{below}")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(line: &str, children: Vec<RenderedTreeNode>) -> RenderedTreeNode {
        RenderedTreeNode { line: line.into(), children }
    }

    #[test]
    fn tree_lines_connect_nodes_to_their_children() {
        let roots = [
            node("a", vec![node("b", vec![node("c", vec![])]), node("d", vec![node("e ", vec![])])]),
            node("f", vec![]),
        ];
        assert_eq!(render(&roots), "a\n├─ b\n│  └─ c\n└─ d\n   └─ e\nf\n");
    }
}
