//! Lines in the sense of diffs and patches, which end at LF alone. A CR before it belongs to the
//! line end.

/// The line break at the end of a line, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
}

impl LineEnd {
    /// The characters.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// The end of `line`, which still has it; `None` for the last line of a text that ends without one.
pub(crate) fn line_end(line: &str) -> Option<LineEnd> {
    match line.strip_suffix('\n') {
        Some(rest) if rest.ends_with('\r') => Some(LineEnd::CrLf),
        Some(_) => Some(LineEnd::Lf),
        None => None,
    }
}

/// `line` without its end; a lone CR at the end of a text counts as one.
pub(crate) fn strip_line_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Returns the most frequent line end of `text` (LF if both are equally frequent); `None` for a
/// text without any.
pub(crate) fn common_line_end(text: &str) -> Option<LineEnd> {
    let all = text.bytes().filter(|byte| *byte == b'\n').count();
    let crlf = text.matches("\r\n").count();
    match (all, crlf) {
        (0, _) => None,
        (all, crlf) if 2 * crlf > all => Some(LineEnd::CrLf),
        _ => Some(LineEnd::Lf),
    }
}
