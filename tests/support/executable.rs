//! Programs that a test writes, through another process. A child that another test starts meanwhile
//! would inherit this process's descriptor, and until that child's own `execve` the program is
//! "text file busy" (`execve(2)`, `ETXTBSY`).

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program with this text to `path`, and creates the folders above; an existing file is
/// replaced.
pub fn write_executable(path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    install("/dev/stdin".as_ref(), path.as_ref(), text.as_ref());
}

/// Copies the program `from` to `path`, and creates the folders above; an existing file is
/// replaced.
pub fn copy_executable(from: impl AsRef<Path>, path: impl AsRef<Path>) {
    install(from.as_ref(), path.as_ref(), b"");
}

fn install(from: &Path, path: &Path, input: &[u8]) {
    let mut command = Command::new("install");
    command.args(["-D", "-m", "755"]).args([from, path]).stdin(Stdio::piped());
    let mut child = command.spawn().expect("install");
    child.stdin.take().expect("its input").write_all(input).expect("the program's text");
    let status = child.wait().expect("the end of install");
    assert!(status.success(), "install {}: {status}", path.display());
}
