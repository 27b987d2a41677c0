//! A readable record of every message.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use parking_lot::Mutex;

use crate::platform::private;

/// The direction of a traced message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TraceDirection {
    /// Sent by us.
    Sent,
    /// Received from the other side.
    Received,
    /// Output of the other side that is not a message.
    Junk,
}

/// A file that takes every message with its time: one line each, `seconds server direction json`.
#[derive(Debug)]
pub(crate) struct RpcTrace {
    file: Mutex<BufWriter<File>>,
    start: Instant,
}

impl RpcTrace {
    /// Starts a record in the file at `path`, which is created or emptied; readable by its owner
    /// only, since messages hold the text of files.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut options = private::open_options_through_links();
        let file = private::open(options.write(true).create(true).truncate(true), path)?;
        Ok(Self { file: Mutex::new(BufWriter::new(file)), start: Instant::now() })
    }

    pub(super) fn record(&self, server: &str, direction: TraceDirection, body: &str) {
        let seconds = self.start.elapsed().as_secs_f64();
        let arrow = match direction {
            TraceDirection::Sent => "->",
            TraceDirection::Received => "<-",
            TraceDirection::Junk => "!!",
        };
        let body = body.replace(['\n', '\r'], " ");
        let mut file = self.file.lock();
        let written = writeln!(file, "{seconds:.6} {server} {arrow} {body}").and_then(|()| file.flush());
        if let Err(error) = written {
            tracing::warn!("the trace file cannot be written: {error}");
        }
    }
}
