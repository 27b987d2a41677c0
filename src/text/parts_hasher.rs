//! Hashes over several parts.

use std::ffi::OsStr;

use sha2::{Digest, Sha256};

/// A SHA-256 over parts. Each is preceded by its length, so that no two lists of parts are hashed
/// as the same input.
#[derive(Debug, Clone, Default)]
pub(crate) struct PartsHasher(Sha256);

/// The result of a [`PartsHasher`].
pub(crate) type PartsHash = [u8; 32];

impl PartsHasher {
    /// Adds a part.
    pub(crate) fn add(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// Adds a name.
    pub(crate) fn add_name(&mut self, name: &OsStr) {
        self.add(name.as_encoded_bytes());
    }

    /// Returns the hash of the parts so far.
    pub(crate) fn finish(self) -> PartsHash {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_with_the_same_joined_bytes_have_different_hashes() {
        let hash = |parts: &[&str]| {
            let mut hasher = PartsHasher::default();
            parts.iter().for_each(|part| hasher.add(part.as_bytes()));
            hasher.finish()
        };
        assert_eq!(hash(&["ab", "c"]), hash(&["ab", "c"]));
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["ab"]), hash(&["ab", ""]));
    }
}
