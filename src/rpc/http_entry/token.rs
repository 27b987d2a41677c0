//! The bearer token of every HTTP request: generated at each start, or read from a file.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::platform::private;

/// The minimum length of a configured token.
const MIN_BEARER_TOKEN_CHARS: usize = 16;
/// The maximum length of a configured token.
const MAX_BEARER_TOKEN_CHARS: usize = 4096;

/// The reasons why no token is available.
#[derive(Debug, Error)]
pub(crate) enum TokenError {
    /// The file cannot be read or written.
    #[error("the token file {} cannot be used: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// Others can read the file.
    #[error("the token file {} is readable by other users; run: chmod 600 {}", path.display(), path.display())]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// The text does not have the form of a token.
    #[error(
        "a token must have {MIN_BEARER_TOKEN_CHARS} to {MAX_BEARER_TOKEN_CHARS} visible ASCII characters without spaces; generate one with: openssl rand -hex 32"
    )]
    Unusable,
    /// The system gave no random bytes.
    #[error("the system provides no random bytes ({0}), so no token can be generated")]
    NoRandom(#[from] getrandom::Error),
}

/// The secret that authenticates a client. Tokens are compared by hash, so that the time of a
/// comparison reveals nothing.
pub struct BearerToken(String);

impl std::fmt::Debug for BearerToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token(…)")
    }
}

impl BearerToken {
    /// Generates a token of 32 random bytes.
    ///
    /// # Errors
    /// [`TokenError::NoRandom`].
    pub(crate) fn random() -> Result<Self, TokenError> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(key)))
    }

    /// Takes a configured token.
    ///
    /// # Errors
    /// [`TokenError::Unusable`].
    pub(crate) fn from_text(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if !visible || !(MIN_BEARER_TOKEN_CHARS..=MAX_BEARER_TOKEN_CHARS).contains(&text.len()) {
            return Err(TokenError::Unusable);
        }
        Ok(Self(text.to_owned()))
    }

    /// The token in the file `path`, which only its owner may be able to read.
    ///
    /// # Errors
    /// [`TokenError`].
    pub(crate) fn from_file(path: &Path) -> Result<Self, TokenError> {
        let unusable = |error| TokenError::File { path: path.to_owned(), error };
        let file = File::open(path).map_err(unusable)?;
        if private::is_open_to_others(&file.metadata().map_err(unusable)?) {
            return Err(TokenError::Open { path: path.to_owned() });
        }
        let mut text = String::new();
        file.take(2 * MAX_BEARER_TOKEN_CHARS as u64).read_to_string(&mut text).map_err(unusable)?;
        Self::from_text(&text)
    }

    /// Returns true if `given` equals this token.
    pub(crate) fn matches(&self, given: &str) -> bool {
        Sha256::digest(&self.0) == Sha256::digest(given)
    }

    /// The token in plain text, for a client that sends it.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Derives a key for another purpose, which reveals nothing about the token.
    pub(crate) fn key(&self, purpose: &str) -> [u8; 32] {
        Sha256::digest(format!("lsp-tools {purpose}\0{}", self.0)).into()
    }

    /// Writes the token to a file that only the user can read. The file is removed when the
    /// returned value is dropped.
    ///
    /// # Errors
    /// [`TokenError::File`].
    pub(crate) fn write_file(&self, state: &Path, port: u16) -> Result<KeptToken, TokenError> {
        let folder = state.join("mcp");
        let path = folder.join(format!("http-{port}.token"));
        let unusable = |error| TokenError::File { path: path.clone(), error };
        private::make_folder(&folder).map_err(unusable)?;
        // One that a killed process has left names a port that is ours now.
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unusable(error)),
            _ => {}
        }
        let mut file =
            private::open(private::open_options().write(true).create_new(true), &path).map_err(unusable)?;
        file.write_all(format!("{}\n", self.0).as_bytes()).map_err(unusable)?;
        Ok(KeptToken { path })
    }
}

/// A token's file, as long as this lives.
#[derive(Debug)]
pub(crate) struct KeptToken {
    path: PathBuf,
}

impl KeptToken {
    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for KeptToken {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!("the token file was not removed: {error}");
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::files::{MetadataExt, PermissionsExt};
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn bearer_token_file_is_private_and_removed_on_drop() {
        let state = tempfile::tempdir().unwrap();
        let token = BearerToken::random().unwrap();
        let kept = token.write_file(state.path(), 8000).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(kept.path()), mode(kept.path().parent().unwrap())), (0o600, 0o700));
        let read = BearerToken::from_file(kept.path()).unwrap();
        assert!(read.matches(&token.0));
        let path = kept.path().to_owned();
        drop(token.write_file(state.path(), 8000).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn readable_token_file_and_weak_bearer_token_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "0123456789abcdef").unwrap();
        std::fs::set_permissions(file.path(), Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(BearerToken::from_file(file.path()), Err(TokenError::Open { .. })));
        std::fs::set_permissions(file.path(), Permissions::from_mode(0o600)).unwrap();
        assert!(BearerToken::from_file(file.path()).is_ok());
        for short in ["", "short", "0123456789 abcdef", "0123456789abcdé"] {
            assert!(matches!(BearerToken::from_text(short), Err(TokenError::Unusable)), "{short}");
        }
    }
}
