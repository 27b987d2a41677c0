//! Signatures of entries in the shared store (Ed25519, RFC 8032), by which readers know the writer.
//!
//! A signed entry is a gzip stream of a JSON object with the entry's text, the writer's public key
//! and the signature. It signs the key of the entry too, so that an entry under another key is
//! refused.

use std::io::{Read, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use super::entry::{MAX_ENTRY_BYTES, ReportEntry};
use crate::config::TrustedWriter;
use crate::text::{PartsHash, PartsHasher, hex};

/// The purpose and version of a signature, so that none is valid for anything else.
const SIGNED_PURPOSE: &[u8] = b"lsp-tools stored reports 1";
/// The largest signed entry, in bytes: JSON doubles quotes, and has the signature beside the text.
const MAX_SIGNED_BYTES: u64 = 2 * MAX_ENTRY_BYTES + 4_096;

/// The secret key of a writer of the shared store.
#[derive(Debug)]
pub(crate) struct WriterKey {
    pair: Ed25519KeyPair,
}

/// A new key of a writer, as the texts that users keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct NewWriterKey {
    /// The secret key, for `LSP_TOOLS_STORE_KEY`.
    pub(crate) secret: String,
    /// The public key with the writer's name, for `writers` in the settings of readers.
    pub(crate) writer: String,
}

/// An entry of the shared store.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedEntry {
    /// The public key, in Base64.
    writer: String,
    /// The signature, in Base64.
    signature: String,
    /// The entry's JSON text.
    entry: String,
}

impl WriterKey {
    /// Creates a key for the writer called `name`.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn generate(name: &str) -> Result<NewWriterKey, getrandom::Error> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        let secret = BASE64_STANDARD.encode(seed);
        let public = Self::parse(&secret).map(|key| BASE64_STANDARD.encode(key.public()));
        Ok(NewWriterKey { secret, writer: format!("{name}={}", public.unwrap_or_default()) })
    }

    /// Parses a secret key: 32 bytes in Base64.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let seed = BASE64_STANDARD.decode(text.trim()).ok()?;
        Ed25519KeyPair::from_seed_unchecked(&seed).ok().map(|pair| Self { pair })
    }

    /// The public key.
    pub(super) fn public(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    /// Signs an entry for the key `key`, and returns the bytes for the shared store.
    pub(in crate::analysis::check) fn sign(&self, key: &PartsHash, entry: &ReportEntry) -> Option<Vec<u8>> {
        let text = entry.text()?;
        let signature = self.pair.sign(&signed_bytes(key, &text));
        let signed = SignedEntry {
            writer: BASE64_STANDARD.encode(self.public()),
            signature: BASE64_STANDARD.encode(signature),
            entry: text,
        };
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&serde_json::to_vec(&signed).ok()?).ok()?;
        packed.finish().ok()
    }
}

/// Returns the entry in `bytes` of the shared store, if it is signed by `writer` for the key `key`.
pub(in crate::analysis::check) fn verified(
    key: &PartsHash,
    writer: &TrustedWriter,
    bytes: &[u8],
) -> Option<ReportEntry> {
    let mut text = String::new();
    GzDecoder::new(bytes).take(MAX_SIGNED_BYTES).read_to_string(&mut text).ok()?;
    let signed: SignedEntry = serde_json::from_str(&text).ok()?;
    let signature = BASE64_STANDARD.decode(&signed.signature).ok()?;
    UnparsedPublicKey::new(&ED25519, &writer.key)
        .verify(&signed_bytes(key, &signed.entry), &signature)
        .ok()?;
    let mut entry = ReportEntry::parse(&signed.entry)?;
    entry.writer = Some(writer.name.clone());
    Some(entry)
}

/// The name of an entry in the shared store: 64 hexadecimal digits. Each writer has names of its
/// own, so that no other can take one first.
pub(super) fn shared_name(key: &PartsHash, writer: &[u8]) -> String {
    let mut hasher = PartsHasher::default();
    [SIGNED_PURPOSE, key, writer].iter().for_each(|part| hasher.add(part));
    hex(&hasher.finish())
}

fn signed_bytes(key: &PartsHash, entry: &str) -> PartsHash {
    let mut hasher = PartsHasher::default();
    [SIGNED_PURPOSE, key, entry.as_bytes()].iter().for_each(|part| hasher.add(part));
    hasher.finish()
}
