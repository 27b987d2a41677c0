//! Trees, with lines from each node to those below.

/// A node: its line (safe text of one line) and what lies below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RenderedTreeNode {
    /// Its line.
    pub(crate) line: String,
    /// What lies below it.
    pub(crate) children: Vec<RenderedTreeNode>,
}

/// The trees below each other, each line ended; roots stand at the margin.
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
