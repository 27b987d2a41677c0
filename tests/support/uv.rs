//! uv, for tests of its installations.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::skipped;

/// uv, from PyPI in a folder that all tests share; `None`, reported as skipped, if PyPI is not
/// reachable.
///
/// # Panics
/// If Python is missing.
pub fn uv() -> Option<PathBuf> {
    let shared = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("uv-0.9.11");
    let lock = fs::File::create(shared.with_extension("lock")).expect("a lock");
    lock.lock().expect("a lock");
    let program = shared.join("bin/uv");
    if !program.is_file() {
        let made = Command::new("python3").args(["-m", "venv"]).arg(&shared).output().expect("python3");
        assert!(made.status.success(), "{made:?}");
        let installed = Command::new(shared.join("bin/pip")).args(["install", "-q", "uv==0.9.11"]).output();
        let installed = installed.expect("pip");
        if !installed.status.success() {
            skipped(&format!("PyPI does not bring uv: {}", String::from_utf8_lossy(&installed.stderr)));
            return None;
        }
    }
    Some(program)
}
