//! Windows strings as bytes: UTF-8, in which an unpaired surrogate has three bytes.

use std::ffi::{OsStr, OsString};

/// Conversion from and to the bytes of a text.
pub(crate) trait OsStrExt {
    /// Returns the text of these bytes; the replacement character, which names nothing, if they are
    /// not UTF-8.
    fn from_bytes(bytes: &[u8]) -> &OsStr;
    fn as_bytes(&self) -> &[u8];
}

impl OsStrExt for OsStr {
    fn from_bytes(bytes: &[u8]) -> &OsStr {
        OsStr::new(std::str::from_utf8(bytes).unwrap_or("\u{fffd}"))
    }

    fn as_bytes(&self) -> &[u8] {
        self.as_encoded_bytes()
    }
}

/// Conversion from and to owned bytes.
pub(crate) trait OsStringExt {
    /// Returns the text of these bytes, with replacement characters for invalid UTF-8.
    fn from_vec(bytes: Vec<u8>) -> Self;
}

impl OsStringExt for OsString {
    fn from_vec(bytes: Vec<u8>) -> Self {
        String::from_utf8_lossy(&bytes).into_owned().into()
    }
}
