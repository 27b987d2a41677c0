//! Programs of a project that run only while they match the hashes that their owner trusted.
//!
//! Between a check of a file by its path and a start by its path another file can take its place.
//! So a pinned program is opened once: the open file is compared with its [`FilePin`], and the
//! kernel executes the same file, by `/proc/self/fd/N`. Its first argument stays its path, by which
//! interpreters find their installation. From before the check to after the start a [`lease`] keeps
//! others from writing to it, and while a program runs, the kernel does. If no lease is available
//! (network file systems, files of another user or with an open writer), a [`memfd`] copy in memory
//! is checked and started instead; such a program finds no other file beside it.
//!
//! A script cannot be started in that way: its interpreter would get the number of an open file as
//! the script's name, and the script would not find its own files beside it. So the interpreter
//! opens the script by its path, a moment after the last check, as it does other pinned files that
//! its command names.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use crate::config::{FilePin, MOST_PROGRAM_BYTES, PinError, PinnedFile};
use crate::platform::files::read_exact_at;
use crate::platform::shared_file_system::may_have_unseen_writers_of;
use crate::platform::{lease, memfd, opened_path};

/// The word before a pin among the arguments of a supervisor; the content and the path follow.
const PINNED: &str = "--pinned";

/// The program of a [`command`], kept open until it has been started.
#[derive(Debug)]
pub(super) struct HeldProgram(Option<WriteProtectedFile>);

#[derive(Debug)]
enum WriteProtectedFile {
    /// The file itself, leased so that no other process can open it for writing.
    Leased(PinnedFile),
    /// A sealed copy of the file in memory.
    Sealed(PinnedFile),
}

impl HeldProgram {
    /// Checks that the started program is the one that was compared. A lease ends when the kernel
    /// has waited too long on behalf of a writer.
    pub(super) fn check_started(&self) -> Result<(), PinError> {
        match &self.0 {
            Some(WriteProtectedFile::Leased(program)) if !lease::is_held(program.file()) => program.check(),
            Some(WriteProtectedFile::Leased(_) | WriteProtectedFile::Sealed(_)) | None => Ok(()),
        }
    }
}

impl WriteProtectedFile {
    /// Compares `program` with its pin, in a way in which it stays unchanged.
    fn new(program: PinnedFile) -> Result<Self, PinError> {
        if !may_have_unseen_writers_of(program.file()) && lease::take_read_lease(program.file()).is_ok() {
            program.check()?;
            return Ok(Self::Leased(program));
        }
        let sealed = memfd::sealed_copy(program.file(), MOST_PROGRAM_BYTES)
            .map_err(|source| program.unreadable_error(source))?;
        let copy = program.with_copy(sealed);
        copy.check()?;
        Ok(Self::Sealed(copy))
    }

    fn file(&self) -> &File {
        match self {
            Self::Leased(program) | Self::Sealed(program) => program.file(),
        }
    }
}

/// Returns the command that starts `program`, after all of `pins` were compared with the present
/// files.
///
/// # Errors
/// A file does not match its pin, or cannot be read.
pub(super) fn command(program: &Path, pins: &[FilePin]) -> Result<(Command, HeldProgram), PinError> {
    // The program last: between its look and its start passes the least time.
    let (own, others): (Vec<_>, Vec<_>) = pins.iter().partition(|pin| pin.path == program);
    for pin in others {
        pin.check()?;
    }
    let mut held = None;
    for pin in own {
        let program = pin.open()?;
        if cfg!(linux_kernel) {
            held = Some(WriteProtectedFile::new(program)?);
        } else {
            program.check()?;
        }
    }
    // The compared content decides: the beginning of the file at another moment proves nothing.
    let Some(held) = held.filter(|held| !is_script(held.file())) else {
        return Ok((Command::new(program), HeldProgram(None)));
    };
    let command = opened_path::command(held.file(), program);
    Ok((command, HeldProgram(Some(held))))
}

/// Returns true if the kernel passes the program to an interpreter. An unreadable file also counts:
/// it is started by its path and fails there.
fn is_script(program: &File) -> bool {
    let mut start = [0; 2];
    read_exact_at(program, &mut start, 0).is_err() || start == *b"#!"
}

/// Returns `pins` as arguments of a supervisor that starts `program` in the folder `cwd`. Other
/// files below `cwd` are checked by both of their names: the command may use either, and another
/// folder may have taken the place of `cwd` since it was entered.
pub(super) fn pin_arguments(pins: &[FilePin], program: &Path, cwd: &Path) -> impl Iterator<Item = OsString> {
    pins.iter().flat_map(move |pin| {
        let below = pin.path.strip_prefix(cwd).ok().filter(|_| pin.path != program).map(Path::to_owned);
        let paths = [Some(pin.path.clone()), below].into_iter().flatten();
        paths.flat_map(|path| [PINNED.into(), pin.sha256.clone().into(), path.into()])
    })
}

/// Parses the pins at the head of a supervisor's arguments, and the program behind them.
#[cfg(supervised)]
pub(super) fn read(args: &mut impl Iterator<Item = OsString>) -> Option<(Vec<FilePin>, OsString)> {
    let mut pins = Vec::new();
    loop {
        let word = args.next()?;
        if word != PINNED {
            return Some((pins, word));
        }
        pins.push(FilePin { sha256: args.next()?.into_string().ok()?, path: args.next()?.into() });
    }
}

#[cfg(all(test, linux_kernel))]
mod tests {
    use crate::platform::files::{AsRawFd, OFlags, OpenOptionsExt, symlink};
    use std::fs;
    use std::io::{self, Read, Seek, Write};
    use std::path::PathBuf;

    use super::*;
    use crate::config::LaunchFields;

    fn program() -> (tempfile::TempDir, PathBuf, FilePin) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        fs::write(&path, "\x7fELF").unwrap();
        let sha256 = LaunchFields::content_of(folder.path(), &path).unwrap();
        let pin = FilePin { path: path.clone(), sha256 };
        (folder, path, pin)
    }

    #[test]
    fn pinned_program_is_write_locked_until_started_and_may_move() {
        let (folder, program, pin) = program();
        let moved = folder.path().join("moved");
        let pins = [pin];
        let (_, held) = command(&program, &pins).unwrap();
        fs::rename(&program, &moved).unwrap();
        held.check_started().unwrap();
        let mut now = fs::OpenOptions::new();
        let now = now.write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        assert_eq!(now.open(&moved).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        // A writer has tried, so the file is read once more.
        held.check_started().unwrap();
        drop(held);
        now.open(&moved).unwrap();
        assert!(matches!(command(&program, &pins), Err(PinError::Unread { .. })));
    }

    #[test]
    fn pinned_program_open_for_writing_starts_as_a_sealed_copy() {
        let (_folder, program, pin) = program();
        let mut writer = fs::OpenOptions::new().write(true).open(&program).unwrap();
        let (_, held) = command(&program, std::slice::from_ref(&pin)).unwrap();
        let copy = held.0.as_ref().unwrap().file();
        writer.write_all(b"other").unwrap();
        let mut text = Vec::new();
        (&*copy).rewind().unwrap();
        (&*copy).read_to_end(&mut text).unwrap();
        assert_eq!(text, b"\x7fELF");
        assert!((&*copy).write_all(b"x").is_err() && copy.set_len(1).is_err());
        held.check_started().unwrap();
        assert!(matches!(command(&program, &[pin]), Err(PinError::Changed { .. })));
    }

    #[test]
    fn pinned_program_behind_proc_fd_symlink_is_refused() {
        let (folder, program, pin) = program();
        let open = File::open(&program).unwrap();
        let link = folder.path().join("link");
        symlink(format!("/proc/{}/fd/{}", std::process::id(), open.as_raw_fd()), &link).unwrap();
        assert_eq!(fs::read(&link).unwrap(), b"\x7fELF");
        let refused = command(&link, &[FilePin { path: link.clone(), ..pin }]).unwrap_err();
        assert!(matches!(refused, PinError::Unread { .. }), "{refused}");
    }

    #[test]
    fn pinned_file_below_cwd_is_checked_by_both_paths() {
        let pin = |path: &str| FilePin { path: path.into(), sha256: "0".into() };
        let pins = [pin("/w/a/b"), pin("/w/a/p"), pin("/w/c")];
        let words: Vec<_> = pin_arguments(&pins, Path::new("/w/a/p"), Path::new("/w/a")).collect();
        let paths: Vec<_> = words.iter().skip(2).step_by(3).collect();
        assert_eq!(paths, ["/w/a/b", "b", "/w/a/p", "/w/c"]);
    }
}
