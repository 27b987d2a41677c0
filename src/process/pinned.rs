//! Programs of a project that run only as its owner trusted them.
//!
//! Between a look at a file by its path and a start by its path another file can take its place. So a pinned program is opened once:
//! the open file is compared with its [`Pin`], and it is what the kernel is given, by `/proc/self/fd/N`; its first argument stays its
//! path, by which interpreters find their installation. From before the look to after the start a [`lease`] keeps others from writing to
//! it, and while a program runs, the kernel does. Where the file system has no leases, the file is read once more when it runs.
//!
//! A script cannot be started in that way: for its name its interpreter would be given the number of an open file, beside which nothing
//! of the script's own lies. So the interpreter opens it by its path, a moment after the last look at it, as it does other pinned files
//! that its command names.

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

#[cfg(target_os = "linux")]
use super::lease;
use crate::config::{Pin, PinError, PinnedFile};

/// The word before a pin among the arguments of a supervisor; the content and the path follow.
const PINNED: &str = "--pinned";

/// The program of a [`command`], kept open until it has been started.
#[derive(Debug)]
pub(super) struct HeldProgram(Option<PinnedFile>);

impl HeldProgram {
    /// Says whether the program that was started is what was looked at: nobody can have written to it, or it still holds what it held.
    pub(super) fn check_started(&self) -> Result<(), PinError> {
        let Some(program) = self.0.as_ref().filter(|program| !is_leased(program)) else { return Ok(()) };
        program.check()
    }
}

/// Keeps others from writing to `program`, as far as its file system can.
///
/// # Errors
/// Somebody is writing to it.
#[cfg(target_os = "linux")]
fn keep_from_writers(program: &PinnedFile) -> Result<(), PinError> {
    match lease::take(program.file()) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            Err(PinError::Written { path: program.pin().path.clone() })
        }
        // Without a lease it is looked at twice.
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn is_leased(program: &PinnedFile) -> bool {
    lease::is_held(program.file())
}

#[cfg(not(target_os = "linux"))]
fn keep_from_writers(_: &PinnedFile) -> Result<(), PinError> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn is_leased(_: &PinnedFile) -> bool {
    false
}

/// The command that starts `program`, once all of `pins` were compared with what is there.
///
/// # Errors
/// When a file is not what was trusted, or cannot be read.
pub(super) fn command(program: &Path, pins: &[Pin]) -> Result<(Command, HeldProgram), PinError> {
    // The program last: between its look and its start passes the least time.
    let (own, others): (Vec<_>, Vec<_>) = pins.iter().partition(|pin| pin.path == program);
    for pin in others {
        pin.check()?;
    }
    let mut held = None;
    for pin in own {
        let program = pin.open()?;
        keep_from_writers(&program)?;
        program.check()?;
        held = Some(program);
    }
    let Some(held) = held.filter(|held| cfg!(target_os = "linux") && !is_script(held)) else {
        return Ok((Command::new(program), HeldProgram(None)));
    };
    let mut command = Command::new(format!("/proc/self/fd/{}", held.file().as_raw_fd()));
    command.arg0(program);
    Ok((command, HeldProgram(Some(held))))
}

/// Whether the kernel hands it to an interpreter. What cannot be read any more is started by its path and fails there.
fn is_script(program: &PinnedFile) -> bool {
    let mut start = [0; 2];
    program.file().read_exact_at(&mut start, 0).is_err() || start == *b"#!"
}

/// `pins` as arguments of a supervisor.
pub(super) fn words(pins: &[Pin]) -> impl Iterator<Item = OsString> {
    pins.iter().flat_map(|pin| [PINNED.into(), pin.sha256.clone().into(), pin.path.clone().into()])
}

/// The pins at the head of a supervisor's arguments, and the program behind them.
pub(super) fn read(args: &mut impl Iterator<Item = OsString>) -> Option<(Vec<Pin>, OsString)> {
    let mut pins = Vec::new();
    loop {
        let word = args.next()?;
        if word != PINNED {
            return Some((pins, word));
        }
        pins.push(Pin { sha256: args.next()?.into_string().ok()?, path: args.next()?.into() });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::PathBuf;

    use rustix::fs::OFlags;

    use super::*;
    use crate::config::LaunchFields;

    fn program() -> (tempfile::TempDir, PathBuf, Pin) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        fs::write(&path, "\x7fELF").unwrap();
        let sha256 = LaunchFields::content_of(folder.path(), &path).unwrap();
        let pin = Pin { path: path.clone(), sha256 };
        (folder, path, pin)
    }

    #[test]
    fn from_the_look_to_the_start_nobody_writes_to_it_and_what_is_only_moved_is_the_same() {
        let (folder, program, pin) = program();
        let moved = folder.path().join("moved");
        let pins = [pin];
        let (_, held) = command(&program, &pins).unwrap();
        fs::rename(&program, &moved).unwrap();
        held.check_started().unwrap();
        let mut now = fs::OpenOptions::new();
        let now = now.write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        assert_eq!(now.open(&moved).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        // Somebody has tried, so it is read once more.
        held.check_started().unwrap();
        drop(held);
        now.open(&moved).unwrap();
        assert!(matches!(command(&program, &pins), Err(PinError::Unread { .. })));
    }

    #[test]
    fn what_is_open_for_writing_is_not_started() {
        let (_folder, program, pin) = program();
        let writer = fs::OpenOptions::new().write(true).open(&program).unwrap();
        let refused = command(&program, std::slice::from_ref(&pin)).unwrap_err();
        assert!(matches!(refused, PinError::Written { .. }), "{refused}");
        drop(writer);
        command(&program, &[pin]).unwrap();
    }

    #[test]
    fn without_a_lease_what_is_written_to_after_the_look_is_noticed() {
        let (_folder, program, pin) = program();
        let held = HeldProgram(Some(pin.open().unwrap()));
        held.check_started().unwrap();
        fs::write(&program, "\x7fELG").unwrap();
        assert!(matches!(held.check_started(), Err(PinError::Changed { .. })));
    }
}
