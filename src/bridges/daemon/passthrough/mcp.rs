//! MCP on stdin and stdout, passed through to daemons that may be replaced during the session.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::conversation::PassthroughConversation;
use super::lines::{PassthroughLineSplitter, PassthroughPiece};
use super::{MAX_PASSTHROUGH_BUFFER_BYTES, PASSTHROUGH_DRAIN_TIMEOUT, PassthroughEnd};
use crate::bridges::daemon::NO_NEXT_DAEMON;
use crate::bridges::daemon::connector::{Connector, DaemonConnection};
use crate::bridges::daemon::preamble::Preamble;

/// Passes MCP messages between a host and the daemon, and reconnects to the next daemon when one
/// exits: at once if the host waits for a response, else at its next message. `connection` was
/// opened with `preamble`.
///
/// # Errors
/// The host's side fails.
pub(crate) async fn pass_mcp(
    connector: Connector,
    mut preamble: Preamble,
    connection: DaemonConnection,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    stop: CancellationToken,
) -> io::Result<PassthroughEnd> {
    // The next daemon continues the same session.
    preamble.session = Some(connection.welcome.session.clone());
    let mut pass = McpPassthrough {
        connector,
        preamble,
        connection: Some(connection),
        conversation: PassthroughConversation::default(),
        to_daemon: Vec::new(),
        to_host: Vec::new(),
        from_host: PassthroughLineSplitter::default(),
        from_daemon: PassthroughLineSplitter::default(),
    };
    pass.run(BufReader::new(input), output, stop).await
}

struct McpPassthrough {
    connector: Connector,
    preamble: Preamble,
    connection: Option<DaemonConnection>,
    conversation: PassthroughConversation,
    /// Bytes waiting to be written. While there are too many, reading for that side pauses.
    to_daemon: Vec<u8>,
    to_host: Vec<u8>,
    from_host: PassthroughLineSplitter,
    from_daemon: PassthroughLineSplitter,
}

/// An event of the pass-through.
enum PassthroughEvent {
    FromHost(io::Result<Vec<u8>>),
    FromDaemon(io::Result<Vec<u8>>),
    ToHost(io::Result<usize>),
    ToDaemon(io::Result<usize>),
    Stopped,
    Late,
}

impl McpPassthrough {
    async fn run(
        &mut self,
        mut input: BufReader<impl AsyncRead + Unpin>,
        mut output: impl AsyncWrite + Unpin,
        stop: CancellationToken,
    ) -> io::Result<PassthroughEnd> {
        // Set at the end of the host's input. From then on the daemon has a short time for its
        // remaining output.
        let mut end: Option<Instant> = None;
        let mut told_end = false;
        loop {
            if end.is_some() && self.connection.is_none() && self.to_host.is_empty() {
                return Ok(PassthroughEnd::ByHost);
            }
            if end.is_some() && !told_end && self.to_daemon.is_empty() {
                told_end = true;
                if let Some(connection) = &mut self.connection {
                    // The next read detects a daemon that has exited.
                    let _ignored = connection.writer.shutdown().await;
                }
            }
            match self.next(&mut input, &mut output, end, &stop).await {
                PassthroughEvent::FromHost(bytes) => {
                    let bytes = bytes?;
                    if bytes.is_empty() {
                        let rest = self.from_host.take_rest();
                        self.to_daemon.extend_from_slice(&rest);
                        end = Some(Instant::now() + PASSTHROUGH_DRAIN_TIMEOUT);
                    } else if !self.take_from_host(&bytes, &stop).await {
                        return Ok(PassthroughEnd::Stopped);
                    }
                }
                PassthroughEvent::FromDaemon(Ok(bytes)) if !bytes.is_empty() => self.take_from_daemon(&bytes),
                PassthroughEvent::FromDaemon(_) | PassthroughEvent::ToDaemon(Err(_)) => {
                    if !self.on_daemon_lost(end.is_some(), &stop).await {
                        return Ok(PassthroughEnd::Stopped);
                    }
                }
                PassthroughEvent::ToDaemon(Ok(written)) => drop(self.to_daemon.drain(..written)),
                // The host no longer reads.
                PassthroughEvent::ToHost(Ok(0)) => return Ok(PassthroughEnd::ByHost),
                PassthroughEvent::ToHost(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Ok(PassthroughEnd::ByHost);
                }
                PassthroughEvent::ToHost(Err(error)) => return Err(error),
                PassthroughEvent::ToHost(Ok(written)) => {
                    self.to_host.drain(..written);
                    if self.to_host.is_empty() {
                        output.flush().await?;
                    }
                }
                PassthroughEvent::Stopped => return Ok(PassthroughEnd::Stopped),
                PassthroughEvent::Late => return Ok(PassthroughEnd::ByHost),
            }
        }
    }

    /// Waits for both directions at once, so that a side that does not read cannot block the other
    /// one.
    async fn next(
        &mut self,
        input: &mut BufReader<impl AsyncRead + Unpin>,
        output: &mut (impl AsyncWrite + Unpin),
        end: Option<Instant>,
        stop: &CancellationToken,
    ) -> PassthroughEvent {
        let (to_host, to_daemon) = (&self.to_host, &self.to_daemon);
        let (mut reader, mut writer) = match &mut self.connection {
            Some(DaemonConnection { reader, writer, .. }) => (Some(reader), Some(writer)),
            None => (None, None),
        };
        let from_daemon = async {
            match &mut reader {
                Some(reader) => read_available(reader).await,
                None => std::future::pending().await,
            }
        };
        let write_daemon = async {
            match &mut writer {
                Some(writer) => writer.write(to_daemon).await,
                None => std::future::pending().await,
            }
        };
        let late = async {
            match end {
                Some(end) => sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => PassthroughEvent::Stopped,
            written = output.write(to_host), if !to_host.is_empty() => PassthroughEvent::ToHost(written),
            written = write_daemon, if !to_daemon.is_empty() => PassthroughEvent::ToDaemon(written),
            bytes = from_daemon, if to_host.len() < MAX_PASSTHROUGH_BUFFER_BYTES => PassthroughEvent::FromDaemon(bytes),
            bytes = read_available(input), if end.is_none() && to_daemon.len() < MAX_PASSTHROUGH_BUFFER_BYTES => PassthroughEvent::FromHost(bytes),
            () = late => PassthroughEvent::Late,
        }
    }

    /// Processes bytes of the host. Returns `false` if the pass-through must stop.
    async fn take_from_host(&mut self, bytes: &[u8], stop: &CancellationToken) -> bool {
        let mut pieces = Vec::new();
        self.from_host.add(bytes, |piece| pieces.push(piece));
        if pieces.is_empty() {
            return true;
        }
        if self.connection.is_none() && !self.reconnect(stop).await {
            return false;
        }
        for piece in pieces {
            match piece {
                PassthroughPiece::Part(part) => self.to_daemon.extend_from_slice(&part),
                PassthroughPiece::Line(line) => {
                    if let Some(line) = self.conversation.on_client_line(line) {
                        self.to_daemon.extend_from_slice(&line);
                    }
                }
            }
        }
        if self.connection.is_none() {
            self.to_daemon.clear();
            self.answer_without_daemon();
        }
        true
    }

    fn take_from_daemon(&mut self, bytes: &[u8]) {
        let Self { from_daemon, conversation, to_host, .. } = self;
        from_daemon.add(bytes, |piece| match piece {
            PassthroughPiece::Part(part) => to_host.extend_from_slice(&part),
            PassthroughPiece::Line(line) => {
                if let Some(line) = conversation.on_daemon_line(line) {
                    to_host.extend_from_slice(&line);
                }
            }
        });
    }

    /// Handles the loss of the daemon. Returns `false` if the pass-through must stop.
    async fn on_daemon_lost(&mut self, host_has_ended: bool, stop: &CancellationToken) -> bool {
        self.connection = None;
        self.to_daemon.clear();
        // An incomplete line of a lost daemon is not a message.
        drop(self.from_daemon.take_rest());
        self.from_daemon = PassthroughLineSplitter::default();
        let loss = self.conversation.on_daemon_lost();
        for line in loss.answers {
            self.to_host.extend_from_slice(&line);
        }
        if host_has_ended || !loss.waits {
            return true;
        }
        let goes_on = self.reconnect(stop).await;
        if goes_on && self.connection.is_none() {
            self.answer_without_daemon();
        }
        goes_on
    }

    /// Connects to a daemon, and repeats the session's messages to it. Returns `false` if the
    /// pass-through must stop.
    async fn reconnect(&mut self, stop: &CancellationToken) -> bool {
        self.connector.refresh_identity();
        let opened = tokio::select! {
            opened = self.connector.open(&self.preamble) => opened,
            () = stop.cancelled() => return false,
        };
        match opened {
            Ok(connection) => {
                self.connection = Some(connection);
                for line in self.conversation.replay() {
                    self.to_daemon.extend_from_slice(&line);
                }
            }
            Err(error) => tracing::warn!("the daemon is gone, and no other one was found: {error}"),
        }
        true
    }

    fn answer_without_daemon(&mut self) {
        for line in self.conversation.fail_all(NO_NEXT_DAEMON) {
            self.to_host.extend_from_slice(&line);
        }
    }
}

/// Reads all available bytes. Returns none at the end.
async fn read_available(reader: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Vec<u8>> {
    let bytes = reader.fill_buf().await?.to_vec();
    reader.consume(bytes.len());
    Ok(bytes)
}
