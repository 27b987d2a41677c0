//! Symbols: the outline of a file, or matches in the workspace.

use crate::analysis::answer::{SymbolItem, SymbolsOutput};
use crate::text::LineColumn;

use super::terminal::display::{BOLD, DIM, KIND, PLACE, count};
use super::terminal::escape;
use super::terminal::tree;
use super::terminal::tree::RenderedTreeNode;
use super::{DisplayCapabilities, locations};

/// Renders the symbols. `path` is the displayed file of an outline; workspace symbols have their
/// own.
///
/// In a pipe each symbol is one line, `path:line:col: kind Outer.Name`; on a terminal an outline is
/// a tree.
pub(crate) fn render(output: &SymbolsOutput, path: Option<&str>, display: &DisplayCapabilities) -> String {
    if output.symbols.is_empty() {
        return String::new();
    }
    let outline = path.filter(|_| output.symbols.iter().all(|symbol| symbol.path.is_none()));
    let mut out = match outline {
        Some(_) if display.terminal => tree::render(&nodes(&output.symbols, display)),
        path => flat(&output.symbols, path.unwrap_or_default(), display),
    };
    if display.terminal {
        let shown = if output.has_more { ", not all shown" } else { "" };
        let total = format!("{}{shown}", count(output.count, "symbol"));
        out.push_str(&format!("\n{}\n", display.paint(DIM, &total)));
    }
    out
}

fn nodes(symbols: &[SymbolItem], display: &DisplayCapabilities) -> Vec<RenderedTreeNode> {
    symbols
        .iter()
        .map(|symbol| {
            let at = LineColumn::from(symbol.selection.unwrap_or(symbol.range).start);
            let mut line = symbol_line(symbol, &symbol.name, display);
            line.push_str(&format!("  {}", display.paint(PLACE, &at.to_string())));
            RenderedTreeNode { line, children: nodes(&symbol.children, display) }
        })
        .collect()
}

/// Formats `kind name detail`.
fn symbol_line(symbol: &SymbolItem, name: &str, display: &DisplayCapabilities) -> String {
    let kind = display.paint(KIND, &escape::words(&symbol.kind));
    let mut line = format!("{kind} {}", display.paint(BOLD, &escape::words(name)));
    if let Some(detail) = symbol.detail.as_deref().map(escape::words).filter(|detail| !detail.is_empty()) {
        line.push_str(&display.paint(DIM, &format!(" {detail}")));
    }
    line
}

fn flat(symbols: &[SymbolItem], path: &str, display: &DisplayCapabilities) -> String {
    let mut out = String::new();
    let mut stack: Vec<(&SymbolItem, String)> =
        symbols.iter().rev().map(|symbol| (symbol, symbol.name.clone())).collect();
    while let Some((symbol, name)) = stack.pop() {
        let place = symbol.selection.unwrap_or(symbol.range);
        let path = symbol.path.as_deref().unwrap_or(path);
        out.push_str(&format!("{}: ", locations::address(path, &place, display)));
        out.push_str(&symbol_line(symbol, &name, display));
        if let Some(container) = symbol.container.as_deref().filter(|container| !container.is_empty()) {
            out.push_str(&display.paint(DIM, &format!(" in {}", escape::words(container))));
        }
        out.push('\n');
        let inner = symbol.children.iter().rev();
        stack.extend(inner.map(|child| (child, format!("{name}.{}", child.name))));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Position, Range};

    const TERMINAL: DisplayCapabilities = DisplayCapabilities { terminal: true, color: false, width: 80 };

    fn symbol(name: &str, kind: &str, line: u32, children: Vec<SymbolItem>) -> SymbolItem {
        SymbolItem {
            name: name.into(),
            kind: kind.into(),
            detail: None,
            container: None,
            path: None,
            range: Range::new(Position::new(line, 0), Position::new(line + 2, 0)),
            selection: Some(Range::new(Position::new(line, 4), Position::new(line, 9))),
            text: None,
            children,
        }
    }

    fn outline() -> SymbolsOutput {
        let mut greet = symbol("greet", "method", 3, vec![]);
        greet.detail = Some("(self) -> str".into());
        let class = symbol("Greeter", "class", 0, vec![symbol("__init__", "method", 1, vec![]), greet]);
        SymbolsOutput {
            symbols: vec![class, symbol("main", "function", 9, vec![])],
            count: 4,
            has_more: false,
        }
    }

    #[test]
    fn document_symbols_on_a_terminal_are_a_tree() {
        let expected = "class Greeter  1:5\n├─ method __init__  2:5\n└─ method greet (self) -> str  4:5\n\
                        function main  10:5\n\n4 symbols\n";
        assert_eq!(render(&outline(), Some("a.py"), &TERMINAL), expected);
    }

    #[test]
    fn document_symbols_in_a_pipe_are_one_line_each() {
        let expected = "a.py:1:5: class Greeter\na.py:2:5: method Greeter.__init__\n\
                        a.py:4:5: method Greeter.greet (self) -> str\na.py:10:5: function main\n";
        assert_eq!(render(&outline(), Some("a.py"), &DisplayCapabilities::PLAIN), expected);
    }

    #[test]
    fn workspace_symbols_name_their_files_and_containers() {
        let mut found = symbol("greet\x1b[2J", "method", 3, vec![]);
        (found.path, found.container) = (Some("src/b.py".into()), Some("Greeter".into()));
        let output = SymbolsOutput { symbols: vec![found], count: 1, has_more: false };
        assert_eq!(
            render(&output, None, &DisplayCapabilities::PLAIN),
            "src/b.py:4:5: method greet\\u{1b}[2J in Greeter\n"
        );
    }
}
