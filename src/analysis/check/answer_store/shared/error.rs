//! The reasons that a shared store does not serve a request.

use std::time::Duration;

use crate::analysis::error::{ErrorCode, ToolError};

/// The largest packed entry, in bytes.
pub(super) const MAX_PACKED_BYTES: usize = 16 << 20;

/// The reasons that a shared store does not serve a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SharedStoreError {
    /// An address that cannot be used.
    #[error("{0}")]
    Address(String),
    /// No connection, or one that broke off.
    #[error("the shared store at {host} failed: {reason}")]
    Failed {
        /// The host.
        host: String,
        /// The reason.
        reason: String,
    },
    /// A request that needs other credentials.
    #[error("the shared store at {host} refused the request ({status}); see {token}")]
    Refused {
        /// The host.
        host: String,
        /// The HTTP status.
        status: u16,
        /// The variable with the token of the request.
        token: &'static str,
    },
    /// Another status than that of a value.
    #[error("the shared store at {host} answered with status {status}")]
    Status {
        /// The host.
        host: String,
        /// The HTTP status.
        status: u16,
    },
    /// An entry that is damaged, or not of the writer whose name it has.
    #[error("the shared store at {host} has an entry that `{writer}` did not sign; it is not used")]
    Unsigned {
        /// The host.
        host: String,
        /// The name of the writer.
        writer: String,
    },
    /// No answer in time.
    #[error("the shared store at {host} did not answer within {:.1} s", .limit.as_secs_f64())]
    Late {
        /// The host.
        host: String,
        /// The time limit.
        limit: Duration,
    },
    /// A value that is larger than any entry.
    #[error("the shared store at {host} has an entry of more than {MAX_PACKED_BYTES} bytes")]
    TooLarge {
        /// The host.
        host: String,
    },
}

impl SharedStoreError {
    /// The error for an address that is not usable for a reason.
    pub(super) fn unusable(reason: &str) -> Self {
        Self::Address(format!("the address of the shared store cannot be used: {reason}"))
    }
}

impl From<SharedStoreError> for ToolError {
    fn from(error: SharedStoreError) -> Self {
        let code = match &error {
            SharedStoreError::Address(_) => ErrorCode::InvalidArgs,
            SharedStoreError::Refused { .. } => ErrorCode::Denied,
            SharedStoreError::Late { .. } => ErrorCode::Timeout,
            SharedStoreError::TooLarge { .. } => ErrorCode::TooLarge,
            SharedStoreError::Failed { .. }
            | SharedStoreError::Status { .. }
            | SharedStoreError::Unsigned { .. } => ErrorCode::ServerFailed,
        };
        Self::new(code, error.to_string())
    }
}
