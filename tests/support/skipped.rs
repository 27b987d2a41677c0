//! The message of a test that proves nothing on this machine.

use std::io::Write as _;

/// Reports on standard error that the calling test is skipped, and why. The test then returns, and
/// so counts as passed; its own output would be captured for that reason, but not text written to
/// the stream itself.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // Standard error may be closed.
    let _ = writeln!(std::io::stderr().lock(), "\nSKIPPED {test}: {why}");
}
