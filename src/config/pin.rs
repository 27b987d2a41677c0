//! What a trusted file must still be at the moment at which it runs.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::text::hex;
use crate::workspace::Workspace;

/// The largest program whose content is looked at: several times what any is.
const MOST_PROGRAM_BYTES: u64 = 2 << 30;

/// A file of a project and the content that its owner trusted. Whoever runs the file, or has it run by another program, hands this on
/// to [`Spawn`](crate::process::Spawn), so that it is compared once more at the last moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Where it is, by absolute path.
    pub path: PathBuf,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// What in a word of a command may be a path: all of it, and what stands behind the `=` of `--flag=path`.
pub fn paths_in(word: &str) -> impl Iterator<Item = &str> {
    let value = word.split_once('=').map(|(_, value)| value);
    std::iter::once(word).chain(value.filter(|value| !value.is_empty()))
}

/// A file is not what was trusted.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// It has other content by now.
    #[error(
        "`{}` is not what was trusted: it was changed or exchanged before it could run; look at it, then: lsp-tools trust",
        path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be looked at.
    #[error("`{}`, which is trusted as it was, cannot be read: {source}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A file that was opened, compared with its [`Pin`], and is kept open.
#[derive(Debug)]
pub struct TrustedFile {
    pin: Pin,
    file: File,
}

impl Pin {
    /// The file that is there now, opened, if it is the one that was trusted.
    ///
    /// # Errors
    /// When it is another, or cannot be read.
    pub fn open(&self) -> Result<TrustedFile, PinError> {
        let (file, sha256) = open_and_hash(&self.path).map_err(|source| self.unread(source))?;
        self.check(&sha256)?;
        Ok(TrustedFile { pin: self.clone(), file })
    }

    fn check(&self, sha256: &str) -> Result<(), PinError> {
        if self.sha256 == sha256 { Ok(()) } else { Err(PinError::Changed { path: self.path.clone() }) }
    }

    fn unread(&self, source: io::Error) -> PinError {
        PinError::Unread { path: self.path.clone(), source }
    }
}

impl TrustedFile {
    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Says whether the open file still holds what it held when it was opened. It is read again: the times of a file that is written
    /// through a mapping do not change.
    ///
    /// # Errors
    /// When somebody has written to it, or it cannot be read any more.
    pub fn check_unwritten(&self) -> Result<(), PinError> {
        let unread = |source| self.pin.unread(source);
        (&self.file).rewind().map_err(unread)?;
        self.pin.check(&hash_of(&self.file).map_err(unread)?)
    }
}

/// The regular file at `path`, and the SHA-256 of what it holds.
fn open_and_hash(path: &Path) -> io::Result<(File, String)> {
    let opened = Workspace::open_outside(path).map_err(|error| io::Error::other(error.why()));
    let (file, size) = opened?;
    if size > MOST_PROGRAM_BYTES {
        return Err(io::Error::other(format!("it has more than {MOST_PROGRAM_BYTES} bytes")));
    }
    let sha256 = hash_of(&file)?;
    Ok((file, sha256))
}

/// The SHA-256 of the regular file at `path`, in hexadecimal digits.
pub(super) fn hash_at(path: &Path) -> io::Result<String> {
    open_and_hash(path).map(|(_, sha256)| sha256)
}

fn hash_of(mut file: &File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(&chunk[..read]),
        }
    }
}
