//! The fuzz targets: each is a function of bytes that panics if a guarantee is violated.
//!
//! `fuzz_targets/all.rs` runs one of them under libFuzzer; `src/fuzz_tests.rs` replays the seeds in
//! `fuzz/seeds` in every run of `just slow`. Most of the tested code is private, so they are a
//! module of the library, in tests and with the feature `fuzzing`.

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

/// Counts allocations, so that targets can limit them.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A kind of input.
pub struct Target {
    /// The name of the target and of its file in `fuzz/seeds`.
    pub name: &'static str,
    /// Panics if the input violates a guarantee.
    pub run: fn(&[u8]),
}

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

/// The processor time of this thread, which excludes waiting on a busy machine.
fn thread_time() -> std::time::Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    std::time::Duration::from_secs(time.tv_sec.unsigned_abs())
        + std::time::Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

/// The peak memory of `work` beyond the memory in use before, in bytes. It includes other threads.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let result = work();
    (result, MEMORY.peak_usage().saturating_sub(before))
}
