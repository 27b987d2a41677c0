//! Reading, placing, sequences, and hostile input.

mod applying;
mod hostile;
mod reading;
mod sequences;

use super::*;

/// The only file of a patch that can be read.
fn file(text: &str) -> FilePatch {
    let patch = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(patch.files.len(), 1, "{text}");
    patch.files.into_iter().next().expect("one file")
}

/// Hunks for the file `f`.
fn hunks(text: &str) -> FilePatch {
    file(&format!("--- a/f\n+++ b/f\n{text}"))
}

/// The lines of a hunk as a patch has them.
fn lines(hunk: &Hunk) -> String {
    let sign = |kind| match kind {
        LineKind::Context => ' ',
        LineKind::Remove => '-',
        LineKind::Add => '+',
    };
    let end = |newline| if newline { "\n" } else { "<end>" };
    hunk.lines.iter().map(|line| format!("{}{}{}", sign(line.kind), line.text, end(line.newline))).collect()
}
