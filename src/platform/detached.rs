//! The start of a program that outlives the one that starts it.

use std::path::Path;

use tokio::process::Command;

/// Returns the command that starts `program` in a lasting folder, without the files that our parent
/// left open.
///
/// A daemon that inherited them would hold their locks and pipes for its whole life.
#[cfg(unix)]
pub(crate) fn command(program: &Path) -> Command {
    /// Our own files are closed by `exec`; these are all numbers that a shell can name.
    const CLOSED: &str = r#"exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec "$0" "$@""#;
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(CLOSED).arg(program).current_dir("/");
    command
}

/// Returns the command that starts `program` in its own folder, without our console.
#[cfg(windows)]
pub(crate) fn command(program: &Path) -> Command {
    // Of winbase.h.
    const DETACHED_PROCESS: u32 = 0x8;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    keep_own_streams();
    let mut command = Command::new(program);
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
    if let Some(folder) = program.parent() {
        command.current_dir(folder);
    }
    command
}

/// Prevents children from inheriting this process's standard streams. Otherwise a shell would wait
/// for the end of its pipe as long as the daemon lives. Later children get the streams that they
/// are given as copies.
#[cfg(windows)]
#[allow(unsafe_code, reason = "the standard library starts no process without inheritance, on stable Rust")]
fn keep_own_streams() {
    use std::os::windows::io::AsRawHandle;
    use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation};
    let streams = [
        std::io::stdin().as_raw_handle(),
        std::io::stdout().as_raw_handle(),
        std::io::stderr().as_raw_handle(),
    ];
    for stream in streams {
        // SAFETY: the function takes a handle and two numbers, and no pointer. The handles are this
        // process's standard streams, which nothing closes; one that is missing is refused.
        let done = unsafe { SetHandleInformation(stream, HANDLE_FLAG_INHERIT, 0) };
        if done == 0 {
            tracing::debug!("a stream may be inherited: {}", std::io::Error::last_os_error());
        }
    }
}
