//! Writes by another process, in the ways in which files change on real machines.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The way in which the new text reaches the disk.
#[derive(Debug, Clone, Copy)]
pub enum Way {
    /// The file is truncated and written.
    InPlace,
    /// A new file is renamed over it: another inode.
    Rename,
    /// Only the bytes after this many are written.
    Append(usize),
    /// The file is truncated.
    Truncate,
    /// Written in place, and the old modification time is restored.
    KeepTime,
}

/// Writes `text` to the file and returns when the writing process has ended.
pub fn write(path: &Path, text: &str, way: Way) {
    let script = match way {
        Way::InPlace => r#"cat > "$1""#,
        Way::Rename => r#"cat > "$1.new~" && mv "$1.new~" "$1""#,
        Way::Append(_) => r#"cat >> "$1""#,
        Way::Truncate => r#"truncate -s "$2" "$1""#,
        Way::KeepTime => {
            r#"touch -r "$1" "$1.time~" && cat > "$1" && touch -r "$1.time~" "$1" && rm "$1.time~""#
        }
    };
    let input = match way {
        Way::Append(had) => &text[had..],
        Way::Truncate => "",
        Way::InPlace | Way::Rename | Way::KeepTime => text,
    };
    let mut shell = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(path)
        .arg(text.len().to_string())
        .stdin(Stdio::piped())
        .spawn()
        .expect("sh");
    shell.stdin.take().expect("its stdin").write_all(input.as_bytes()).expect("writing to sh");
    let status = shell.wait().expect("sh");
    assert!(status.success(), "{script}: {status}");
    assert_eq!(std::fs::read_to_string(path).expect("the file"), text, "{way:?} left another text");
}
