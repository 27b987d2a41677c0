//! Programs of a project that run only as its owner trusted them.
//!
//! Between a look at a file by its path and a start by its path another file can take its place. So a pinned program is opened once:
//! the open file is compared with its [`Pin`], and it is what the kernel is given, by `/proc/self/fd/N`; its first argument stays its
//! path, by which interpreters find their installation. While a program runs, the kernel lets nobody write to it. Whether somebody did
//! between the look and the start is asked afterwards.
//!
//! A script cannot be started in that way: for its name its interpreter would be given the number of an open file, beside which nothing
//! of the script's own lies. So the interpreter opens it by its path, a moment after the last look at it, as it does other pinned files
//! that its command names.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::config::{Pin, PinError, TrustedFile};

/// The word before a pin among the arguments of a supervisor; the content and the path follow.
const PINNED: &str = "--pinned";

/// The program of a [`command`], kept open until it has been started.
#[derive(Debug)]
pub(super) struct HeldProgram(Option<TrustedFile>);

impl HeldProgram {
    /// Says whether the program that was started is what was looked at.
    pub(super) fn check_started(&self) -> Result<(), PinError> {
        self.0.as_ref().map_or(Ok(()), TrustedFile::check_unwritten)
    }
}

/// The command that starts `program`, once all of `pins` were compared with what is there.
///
/// # Errors
/// When a file is not what was trusted, or cannot be read.
pub(super) fn command(program: &Path, pins: &[Pin]) -> Result<(Command, HeldProgram), PinError> {
    // The program last: between its look and its start passes the least time.
    let (own, others): (Vec<_>, Vec<_>) = pins.iter().partition(|pin| pin.path == program);
    for pin in others {
        pin.open()?;
    }
    let mut held = None;
    for pin in own {
        held = Some(pin.open()?);
    }
    let Some(held) = held.filter(|held| cfg!(target_os = "linux") && !is_script(held)) else {
        return Ok((Command::new(program), HeldProgram(None)));
    };
    let mut command = Command::new(format!("/proc/self/fd/{}", held.file().as_raw_fd()));
    command.arg0(program);
    Ok((command, HeldProgram(Some(held))))
}

/// Whether the kernel hands it to an interpreter. What cannot be read any more is started by its path and fails there.
fn is_script(program: &TrustedFile) -> bool {
    let mut start = [0; 2];
    let read: io::Result<()> = program.file().read_exact_at(&mut start, 0);
    read.is_err() || start == *b"#!"
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

    use super::*;
    use crate::config::LaunchFields;

    #[test]
    fn what_is_written_to_after_the_look_is_noticed_and_what_is_only_moved_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (program, moved) = (folder.path().join("program"), folder.path().join("moved"));
        fs::write(&program, "\x7fELF").unwrap();
        let sha256 = LaunchFields::content_of(folder.path(), &program).unwrap();
        let pins = [Pin { path: program.clone(), sha256 }];
        let (_, held) = command(&program, &pins).unwrap();
        fs::rename(&program, &moved).unwrap();
        held.check_started().unwrap();
        fs::write(&moved, "\x7fELG").unwrap();
        assert!(matches!(held.check_started(), Err(PinError::Changed { .. })));
        assert!(matches!(command(&program, &pins), Err(PinError::Unread { .. })));
    }
}
