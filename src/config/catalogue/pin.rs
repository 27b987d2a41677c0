//! Pins: the hash that a trusted file must still have when it runs.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::text::hex;
use crate::workspace::Workspace;

/// The largest program that is hashed: several times the size of any real one.
pub(crate) const MOST_PROGRAM_BYTES: u64 = 2 << 30;

/// A file of a project and the content that its owner trusted.
///
/// A caller that runs the file, or has it run by another program, passes the pin to
/// [`Spawn`](crate::process::Spawn), so that the content is compared once more at the last moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePin {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// The reasons why a file does not match its pin.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// The content of the file has changed.
    #[error(
        "`{}` changed after it was trusted and was not run; review it, then run: lsp-tools trust",
        path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("the trusted file `{}` cannot be read: {source}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// A file that was opened to be compared with its [`FilePin`], and is kept open.
#[derive(Debug)]
pub struct PinnedFile {
    pin: FilePin,
    file: File,
}

impl FilePin {
    /// Opens the present file, without comparing it.
    ///
    /// # Errors
    /// The file is not regular, too large, or cannot be opened.
    pub fn open(&self) -> Result<PinnedFile, PinError> {
        let file = open(&self.path).map_err(|source| self.unreadable_error(source))?;
        Ok(PinnedFile { pin: self.clone(), file })
    }

    /// Checks that the present file is the trusted one.
    ///
    /// # Errors
    /// The file is another one, or cannot be read.
    pub(crate) fn check(&self) -> Result<(), PinError> {
        self.open()?.check()
    }

    fn unreadable_error(&self, source: io::Error) -> PinError {
        PinError::Unread { path: self.path.clone(), source }
    }
}

impl PinnedFile {
    /// The open file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Replaces the open file with `copy`; the copied content must match the trusted hash as well.
    pub(crate) fn with_copy(&self, copy: File) -> Self {
        Self { pin: self.pin.clone(), file: copy }
    }

    /// Creates the error for a file that cannot be read.
    pub(crate) fn unreadable_error(&self, source: io::Error) -> PinError {
        self.pin.unreadable_error(source)
    }

    /// Checks that the open file has the trusted content. It is read each time: the times of a file
    /// that is written through a mapping do not change.
    ///
    /// # Errors
    /// The content is different, or cannot be read.
    pub fn check(&self) -> Result<(), PinError> {
        let unread = |source| self.pin.unreadable_error(source);
        (&self.file).rewind().map_err(unread)?;
        let is_same = hash_of(&self.file).map_err(unread)? == self.pin.sha256;
        if is_same { Ok(()) } else { Err(PinError::Changed { path: self.pin.path.clone() }) }
    }
}

/// The regular file at `path`.
fn open(path: &Path) -> io::Result<File> {
    let (file, size) = Workspace::open_outside(path).map_err(|error| io::Error::other(error.reason()))?;
    if size > MOST_PROGRAM_BYTES {
        return Err(io::Error::other(format!("it has more than {MOST_PROGRAM_BYTES} bytes")));
    }
    Ok(file)
}

/// The SHA-256 of the regular file at `path`, in hexadecimal digits.
pub(crate) fn hash_at(path: &Path) -> io::Result<String> {
    hash_of(&open(path)?)
}

/// Hashes a file. A file that grows meanwhile is not read to its end.
fn hash_of(file: &File) -> io::Result<String> {
    let mut file = file.take(MOST_PROGRAM_BYTES + 1);
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(&chunk[..read]),
        }
    }
}
