//! The output of a process, line by line, with control characters escaped.

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

/// Answered when a pipe has no more to read.
pub(super) type ReadRequest = oneshot::Sender<()>;

/// The maximum number of bytes that are read as one line, and of characters that are kept of it.
const LINE_BYTES: u64 = 16 * 1024;
const KEPT_CHARS: usize = 500;

/// Calls `tell` with each non-empty line, until the pipe ends. Control characters are escaped. Then
/// answers `waiting` whenever the pipe has no more to read.
pub(super) async fn each_line(
    pipe: impl AsyncRead + Unpin,
    mut tell: impl FnMut(String),
    mut waiting: UnboundedReceiver<ReadRequest>,
) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        // A line without an end must not grow without end.
        let mut rest = (&mut pipe).take(LINE_BYTES.saturating_sub(line.len() as u64));
        tokio::select! {
            biased;
            read = rest.read_until(b'\n', &mut line) => match read {
                Ok(0) | Err(_) if line.is_empty() => return,
                _ => {}
            },
            Some(done) = waiting.recv() => {
                // The caller may have gone away.
                let _ignored = done.send(());
                continue;
            }
        }
        let text = String::from_utf8_lossy(&line);
        let text: String = text.trim_end().chars().take(KEPT_CHARS).flat_map(escaped).collect();
        if !text.is_empty() {
            tell(text);
        }
        line.clear();
    }
}

/// Escapes a control character, which could affect the terminal that shows the line.
fn escaped(character: char) -> impl Iterator<Item = char> {
    let control = character.is_control() && character != '\t';
    let (plain, escape) =
        if control { (None, Some(character.escape_default())) } else { (Some(character), None) };
    plain.into_iter().chain(escape.into_iter().flatten())
}
