//! What a watcher of a slow start may be told.

/// Something happened that is worth showing while an answer is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgressEvent {
    /// A server's process was started.
    ServerStarting {
        /// The server's key.
        server: String,
    },
    /// A server tells of work in progress.
    ServerProgress {
        /// The server's key.
        server: String,
        /// What it does ("Indexing").
        title: String,
        /// How it goes.
        message: Option<String>,
        /// 0 to 100.
        percentage: Option<u8>,
    },
    /// A server has answered `initialize`.
    ServerReady {
        /// The server's key.
        server: String,
    },
    /// A check of many files goes on.
    FilesChecked {
        /// How many are done.
        done: usize,
        /// How many there are.
        total: usize,
    },
    /// A server is being installed.
    Installing {
        /// The server's key.
        server: String,
        /// What is going on.
        step: String,
    },
}
