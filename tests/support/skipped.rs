//! What a test says that proves nothing on this machine.

use std::io::Write as _;

/// Says on standard error that the test which calls it is skipped, and why. The test then returns, and so counts as passed; its own
/// output would be captured for that reason, but not what is written to the stream itself.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // Where standard error is closed there is nobody to read it.
    let _ = writeln!(std::io::stderr().lock(), "\nSKIPPED {test}: {why}");
}
