//! The reasons that a shared store does not serve a request.

use std::time::Duration;

/// The largest packed entry, in bytes.
pub(super) const MAX_PACKED_BYTES: usize = 16 << 20;

/// The reasons that a shared store does not serve a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SharedStoreError {
    /// Its address cannot be used.
    #[error("{0}")]
    Address(String),
    /// It cannot be reached, or breaks off.
    #[error("the shared store at {host} failed: {reason}")]
    Failed {
        /// The host.
        host: String,
        /// The reason.
        reason: String,
    },
    /// It refuses the request.
    #[error("the shared store at {host} answered {status}; {token} or the address may be wrong")]
    Refused {
        /// The host.
        host: String,
        /// The HTTP status.
        status: u16,
        /// The variable with the token of the request.
        token: &'static str,
    },
    /// It does not answer.
    #[error("the shared store at {host} did not answer within {} ms", .limit.as_millis())]
    Late {
        /// The host.
        host: String,
        /// The time limit.
        limit: Duration,
    },
    /// The value is larger than any entry.
    #[error("the shared store at {host} has an entry of more than {MAX_PACKED_BYTES} bytes")]
    TooLarge {
        /// The host.
        host: String,
    },
}
