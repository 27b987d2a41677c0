//! What is fuzzed: each target is a function of bytes that panics where a promise is broken.
//!
//! `fuzz_targets/all.rs` runs one of them under libFuzzer; `src/fuzz_tests.rs` replays the seeds in `fuzz/seeds` in every run of
//! `just slow`. They are a module of the library, which has them in tests and with the feature `fuzzing`: most of what they try is
//! private.

mod answers;
mod draw;
mod frames;
mod globs;
mod http;
mod ignored;
mod markdown;
mod mcp;
mod patch;
mod path;
mod records;
mod settings;
mod shell;
pub mod tools;
mod uri;
mod world;

use peak_alloc::PeakAlloc;

/// Counts what is allocated, so that targets can bound it.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// One kind of input.
pub struct Target {
    /// The name, and that of its file in `fuzz/seeds`.
    pub name: &'static str,
    /// Panics where the input breaks a promise.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "path", run: path::run },
    Target { name: "frames", run: frames::run },
    Target { name: "answers", run: answers::run },
    Target { name: "capabilities", run: answers::run_capabilities },
    Target { name: "markdown", run: markdown::run },
    Target { name: "patch", run: patch::run },
    Target { name: "uri", run: uri::run },
    Target { name: "globs", run: globs::run },
    Target { name: "mcp", run: mcp::run },
    Target { name: "shell", run: shell::run },
    Target { name: "settings", run: settings::run },
    Target { name: "ignored", run: ignored::run },
    Target { name: "tools", run: tools::run },
    Target { name: "records", run: records::run },
    Target { name: "http", run: http::run },
];

/// The processor time of this thread: what it was kept waiting on a busy machine is no fault of what it does.
fn thread_time() -> std::time::Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    std::time::Duration::from_secs(time.tv_sec.unsigned_abs())
        + std::time::Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

/// The most memory that `work` takes beyond what is in use before, in bytes. Other threads count as well.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let result = work();
    (result, MEMORY.peak_usage().saturating_sub(before))
}
