<<<<<<< HEAD
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
=======
//! What is going on while a caller waits, for whoever shows it.

/// Something worth showing to who waits. Nothing depends on these events being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgressEvent {
    /// A server's process is being started.
    ServerStarting {
        /// The server's key in the catalogue.
        server: String,
    },
    /// A server reports work-done progress (LSP 3.17, *Work Done Progress*).
    ServerProgress {
        /// The server's key in the catalogue.
        server: String,
        /// What it does ("Indexing"), as the server puts it.
        title: String,
        /// More, as the server puts it; may be empty.
        message: String,
        /// 0 to 100, where the server counts.
        percentage: Option<u32>,
    },
    /// A server answers and its index is whole, as far as it says.
    ServerReady {
        /// The server's key in the catalogue.
        server: String,
    },
    /// Files whose diagnostics are known.
    FilesChecked {
        /// So many are done,
        done: usize,
        /// of so many.
>>>>>>> cli
        total: usize,
    },
    /// A server is being installed.
    Installing {
<<<<<<< HEAD
        /// The server's key.
        server: String,
        /// What is going on.
=======
        /// The server's key in the catalogue.
        server: String,
        /// What is being done.
>>>>>>> cli
        step: String,
    },
}
