//! The record of a transaction in the journal: enough to complete it, to roll it back, and to undo
//! it later.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::platform::inode::InodeIdentity;
use crate::text::hexadecimal;
use crate::workspace::edit::disk::inspect::FileMetadata;
use crate::workspace::edit::{ContentHash, EditId};

pub(crate) const TRANSACTION_FORMAT_VERSION: u32 = 1;

/// A transaction. It is executed in this order: the structure step by step, then the new contents,
/// then the removal of emptied folders.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransactionRecord {
    pub(crate) version: u32,
    pub(crate) id: EditId,
    pub(crate) title: String,
    pub(crate) group: Option<String>,
    /// Milliseconds since 1970.
    pub(crate) time_ms: u64,
    pub(crate) undoes: Vec<EditId>,
    /// The steps; each uses the names at its own time.
    pub(crate) structure: Vec<StructureStep>,
    /// The new contents, by the names after the structure; no path twice.
    pub(crate) puts: Vec<ContentWrite>,
    #[serde(with = "path_texts")]
    pub(crate) prunes: Vec<PathBuf>,
    pub(crate) summary: Vec<FileChangeSummary>,
}

/// The change of one file, for the history.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileChangeSummary {
    #[serde(with = "path_text")]
    pub(crate) path: PathBuf,
    pub(crate) operation: SummaryOperation,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SummaryOperation {
    Created,
    Modified,
    Deleted,
    RenamedFrom(#[serde(with = "path_text")] PathBuf),
}

/// A change of the existing names.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StructureStep {
    MakeDir {
        #[serde(with = "path_text")]
        path: PathBuf,
        mode: Option<u32>,
    },
    MakeLink {
        #[serde(with = "path_text")]
        path: PathBuf,
        #[serde(with = "hexadecimal")]
        target: Vec<u8>,
    },
    Move {
        #[serde(with = "path_text")]
        from: PathBuf,
        #[serde(with = "path_text")]
        to: PathBuf,
        /// `None` for a folder that an earlier step creates.
        identity: Option<InodeIdentity>,
        /// The hash of a file that is not larger than the limit.
        hash: Option<ContentHash>,
    },
    /// Renames the object at `path` to `spare` beside it, until the transaction is over.
    Remove {
        #[serde(with = "path_text")]
        path: PathBuf,
        spare: String,
        identity: InodeIdentity,
        what: RemovedItem,
    },
}

/// The removed object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RemovedItem {
    File {
        image: StoredContentRange,
        metadata: FileMetadata,
    },
    Link(#[serde(with = "hexadecimal")] Vec<u8>),
    /// A folder that contains only files moved aside by the same transaction.
    Emptied,
    /// A folder, itself first, each entry after its folder.
    Tree(Vec<RemovedTreeEntry>),
}

/// An entry of a removed folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemovedTreeEntry {
    /// The path relative to the removed folder; empty for itself.
    #[serde(with = "path_text")]
    pub(crate) path: PathBuf,
    pub(crate) what: LeafKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LeafKind {
    Directory { mode: u32 },
    File { image: StoredContentRange, metadata: FileMetadata },
    Link(#[serde(with = "hexadecimal")] Vec<u8>),
}

/// A new content.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContentWrite {
    #[serde(with = "path_text")]
    pub(crate) path: PathBuf,
    /// A name beside it: of the new file until the exchange, then of the old one until the
    /// transaction is over.
    pub(crate) temp: String,
    pub(crate) before: Option<ReplacedFile>,
    pub(crate) after: ContentHash,
    /// The attributes of the new file; `None` for the defaults of a new file.
    pub(crate) metadata: Option<FileMetadata>,
    /// Used only without `metadata`.
    pub(crate) executable: bool,
    #[serde(skip)]
    pub(crate) content: Arc<[u8]>,
}

/// The file that a new content replaces.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplacedFile {
    pub(crate) identity: InodeIdentity,
    pub(crate) image: StoredContentRange,
    pub(crate) metadata: FileMetadata,
}

/// The position of an old content in the entry's file of contents.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredContentRange {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) hash: ContentHash,
}

// The position is not part of a content's identity.
impl PartialEq for StoredContentRange {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl Eq for StoredContentRange {}

/// Returns the final place of the object that was at `path` after step `step` of `structure`.
pub(crate) fn final_place(structure: &[StructureStep], step: usize, path: &Path) -> PathBuf {
    let mut place = path.to_owned();
    for later in structure.iter().skip(step + 1) {
        if let StructureStep::Move { from, to, .. } = later {
            place = rebase_path(&place, from, to).unwrap_or(place);
        }
    }
    place
}

/// Joins `relative` to `folder`; returns the folder itself if it is empty.
pub(crate) fn join_relative(folder: &Path, relative: &Path) -> PathBuf {
    if relative.as_os_str().is_empty() { folder.to_owned() } else { folder.join(relative) }
}

/// Replaces the beginning `from` of `path` by `to`; `None` if `path` is not at or below `from`.
pub(crate) fn rebase_path(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(from).ok()?;
    Some(join_relative(to, rest))
}

/// The prefix of a path that is not UTF-8 and is therefore written in hexadecimal digits.
const HEX_MARK: &str = "hex:";

/// Paths of any bytes as text.
mod path_text {
    use crate::platform::{OsStrExt, OsStringExt};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::HEX_MARK;
    use super::hexadecimal::from_hex;
    use crate::text::hex;

    pub(super) fn encode(path: &Path) -> String {
        match path.to_str() {
            Some(text) if !text.starts_with(HEX_MARK) => text.to_owned(),
            _ => format!("{HEX_MARK}{}", hex(path.as_os_str().as_bytes())),
        }
    }

    pub(super) fn decode(text: String) -> Option<PathBuf> {
        match text.strip_prefix(HEX_MARK) {
            Some(digits) => from_hex(digits).map(|bytes| PathBuf::from(OsString::from_vec(bytes))),
            None => Some(PathBuf::from(text)),
        }
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&encode(path))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        decode(String::deserialize(from)?).ok_or_else(|| D::Error::custom("a path expected"))
    }
}

/// Lists of paths.
mod path_texts {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::path_text;

    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| path_text::encode(path)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        let texts = Vec::<String>::deserialize(from)?;
        let paths: Option<Vec<_>> = texts.into_iter().map(path_text::decode).collect();
        paths.ok_or_else(|| D::Error::custom("paths expected"))
    }
}
