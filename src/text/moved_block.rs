//! A block of lines in the text that it was moved to, spaced and indented as in its old place.

use super::block_edit::{CutBlock, MAX_GAP_LINES};

/// Appends the block to `text`.
pub(crate) fn append_block(text: &str, moved: &CutBlock) -> String {
    let line_end = line_end(text);
    let block = moved.block.lines().collect::<Vec<_>>().join(line_end);
    match text.trim_end() {
        "" => format!("{block}{line_end}"),
        before => format!("{before}{}{block}{line_end}", line_end.repeat(1 + gap(moved))),
    }
}

/// Restores the block's own indentation and empty lines in `text`, into which a server has put it;
/// `None` if the block is not found, because more than its spacing was changed. A word that the
/// server put before a line (`export`) stays.
pub(crate) fn restore_spacing(text: &str, moved: &CutBlock) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let filled: Vec<usize> = (0..lines.len()).filter(|&line| !lines[line].trim().is_empty()).collect();
    let block: Vec<&str> = moved.block.lines().collect();
    let wanted: Vec<&str> = block.iter().filter(|line| !line.trim().is_empty()).copied().collect();
    let is_at = |window: &&[usize]| {
        window.iter().zip(&wanted).all(|(&line, wanted)| lines[line].trim().ends_with(wanted.trim()))
    };
    let found = filled.windows(wanted.len().max(1)).find(is_at).filter(|_| !wanted.is_empty())?;
    let mut given = found.iter();
    let restored = block.iter().map(|line| match line.trim() {
        "" => String::new(),
        text => {
            let theirs = given.next().map_or("", |&line| lines[line].trim());
            let indent = &line[..line.len() - line.trim_start().len()];
            format!("{indent}{}{}", theirs.strip_suffix(text).unwrap_or_default(), line.trim_start())
        }
    });
    let (first, last) = (*found.first()?, *found.last()?);
    let before = lines[..first].iter().rposition(|line| !line.trim().is_empty()).map_or(0, |line| line + 1);
    let space = if before == 0 { 0 } else { gap(moved).max(first - before) };
    let all = lines[..before].iter().map(|line| (*line).to_owned()).chain((0..space).map(|_| String::new()));
    let all = all.chain(restored).chain(lines[last + 1..].iter().map(|line| (*line).to_owned()));
    Some(all.map(|line| line + line_end(text)).collect())
}

fn gap(moved: &CutBlock) -> usize {
    moved.gap.min(MAX_GAP_LINES)
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(block: &str, gap: usize) -> CutBlock {
        CutBlock { block: block.to_owned(), rest: String::new(), gap }
    }

    #[test]
    fn appended_block_follows_the_last_line_after_the_gap() {
        assert_eq!(append_block("", &cut("x = 1\ny = 2", 2)), "x = 1\ny = 2\n");
        assert_eq!(append_block("a = 1\n\n", &cut("b = 2", 0)), "a = 1\nb = 2\n");
        let windows = append_block("a = 1\r\n", &cut("b = 2\nc = 3\n", 2));
        assert_eq!(windows, "a = 1\r\n\r\n\r\nb = 2\r\nc = 3\r\n");
    }

    #[test]
    fn spacing_of_a_block_is_restored_and_added_words_stay() {
        let block = cut("/** Why. */\nfunction f() {\n  return 1;\n\n}", 1);
        let text =
            "import x;\n\nlet y = 1;\n/** Why. */\n\nexport function f() {\n    return 1;\n}\nlet z = 2;\n";
        let restored =
            "import x;\n\nlet y = 1;\n\n/** Why. */\nexport function f() {\n  return 1;\n\n}\nlet z = 2;\n";
        assert_eq!(restore_spacing(text, &block).as_deref(), Some(restored));
        let alone = cut("  f()", 2);
        assert_eq!(restore_spacing("f()\n", &alone).as_deref(), Some("  f()\n"));
        assert_eq!(restore_spacing("g()\n", &alone), None);
        assert_eq!(restore_spacing("g()\n", &cut("", 1)), None);
    }
}
