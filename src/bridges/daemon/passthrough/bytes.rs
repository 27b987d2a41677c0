//! Plain copying of bytes to and from a connection.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, copy_buf};
use tokio_util::sync::CancellationToken;

use super::{PASSTHROUGH_DRAIN_TIMEOUT, PassthroughEnd};
use crate::bridges::daemon::connector::DaemonConnection;

/// Copies bytes in both directions until one side ends. At the end of the input, the daemon's side
/// is shut down and its remaining output is copied for a short time.
///
/// # Errors
/// One side fails.
pub(crate) async fn pass_bytes(
    connection: DaemonConnection,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    stop: CancellationToken,
) -> io::Result<PassthroughEnd> {
    let DaemonConnection { mut reader, mut writer, .. } = connection;
    // After the end of the input, the daemon is expected to close the connection.
    let host_has_ended = AtomicBool::new(false);
    let outward = async {
        copy(&mut input, &mut writer).await?;
        host_has_ended.store(true, Ordering::Relaxed);
        writer.shutdown().await?;
        tokio::time::sleep(PASSTHROUGH_DRAIN_TIMEOUT).await;
        Ok(PassthroughEnd::ByHost)
    };
    let inward = async {
        copy_buf(&mut reader, &mut output).await?;
        output.flush().await?;
        Ok(if host_has_ended.load(Ordering::Relaxed) {
            PassthroughEnd::ByHost
        } else {
            PassthroughEnd::ByDaemon
        })
    };
    tokio::select! {
        ended = outward => ended,
        ended = inward => ended,
        () = stop.cancelled() => Ok(PassthroughEnd::Stopped),
    }
}
