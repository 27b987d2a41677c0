//! The header of a file in a patch: names, modes, renames.

use super::names::{self, PatchPath, PatchSide, clean_pair, clean_single};
use super::{FileMode, FilePatchOperation, PatchError};

/// The headers of one file, as far as they are parsed.
#[derive(Debug, Default)]
pub(super) struct FilePatchHeader {
    /// The 1-based line at which the section begins.
    pub(crate) line: usize,
    /// True if the section begins with `diff --git`.
    pub(crate) is_git: bool,
    /// The names behind `diff --git`, if they are unambiguous.
    pub(crate) git: Option<(String, String)>,
    /// The names behind `---` and `+++`.
    pub(crate) sides: Option<(PatchSide, PatchSide)>,
    pub(crate) old_mode: Option<FileMode>,
    pub(crate) new_mode: Option<FileMode>,
    is_new: bool,
    is_deleted: bool,
    renamed: [Option<String>; 2],
    copied: [Option<String>; 2],
}

impl FilePatchHeader {
    /// An empty header at this 1-based line.
    pub(super) fn at_line(line: usize) -> Self {
        Self { line, ..Self::default() }
    }

    /// Parses one of git's lines between `diff --git` and `---`. Returns false if it is no such
    /// line.
    pub(super) fn parse_git_line(&mut self, line: &str, at: usize) -> Result<bool, PatchError> {
        let line = line.trim_end_matches(['\n', '\r']);
        let name = |text: &str| {
            names::whole_name(text).map(Some).ok_or_else(|| self_header(at, "the file name cannot be read"))
        };
        if let Some(mode) = line.strip_prefix("old mode ") {
            self.old_mode = Some(file_mode(mode, at)?);
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.new_mode = Some(file_mode(mode, at)?);
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            (self.is_new, self.new_mode) = (true, Some(file_mode(mode, at)?));
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            (self.is_deleted, self.old_mode) = (true, Some(file_mode(mode, at)?));
        } else if let Some(from) = line.strip_prefix("rename from ").or(line.strip_prefix("rename old ")) {
            self.renamed[0] = name(from)?;
        } else if let Some(to) = line.strip_prefix("rename to ").or(line.strip_prefix("rename new ")) {
            self.renamed[1] = name(to)?;
        } else if let Some(from) = line.strip_prefix("copy from ") {
            self.copied[0] = name(from)?;
        } else if let Some(to) = line.strip_prefix("copy to ") {
            self.copied[1] = name(to)?;
        } else if let Some(hashes) = line.strip_prefix("index ") {
            if let Some((_, mode)) = hashes.split_once(' ') {
                file_mode(mode, at)?;
            }
        } else {
            return Ok(line.starts_with("similarity index ") || line.starts_with("dissimilarity index "));
        }
        Ok(true)
    }

    /// Returns the operation on the file as a whole.
    pub(super) fn operation(&self) -> Result<FilePatchOperation, PatchError> {
        match (&self.renamed, &self.copied) {
            ([Some(from), Some(to)], [None, None]) => {
                return Ok(FilePatchOperation::Rename {
                    from: PatchPath::unprefixed(from),
                    to: PatchPath::unprefixed(to),
                });
            }
            ([None, None], [Some(from), Some(to)]) => {
                return Ok(FilePatchOperation::Copy {
                    from: PatchPath::unprefixed(from),
                    to: PatchPath::unprefixed(to),
                });
            }
            ([None, None], [None, None]) => {}
            _ => {
                return Err(
                    self.header_error("a rename or a copy needs both `from` and `to`, and not both kinds")
                );
            }
        }
        if self.is_new && self.is_deleted {
            return Err(self.header_error("a file cannot be new and deleted at once; use two sections"));
        }
        self.operation_of_names()
    }

    fn operation_of_names(&self) -> Result<FilePatchOperation, PatchError> {
        let of_git = self.git.as_ref().map(|(old, new)| clean_pair(old, new));
        match (&self.sides, of_git) {
            (Some((PatchSide::Nothing, PatchSide::Nothing)), _) => {
                Err(self.header_error("both sides are `/dev/null`; name the file on one of them"))
            }
            (Some((PatchSide::Nothing, PatchSide::File(new))), git) if !self.is_deleted => {
                let path = git.map(|(_, path)| path).filter(|path| path.raw == *new);
                Ok(FilePatchOperation::Create { path: path.unwrap_or_else(|| clean_single(new)) })
            }
            (Some((PatchSide::File(old), PatchSide::Nothing)), git) if !self.is_new => {
                let path = git.map(|(path, _)| path).filter(|path| path.raw == *old);
                Ok(FilePatchOperation::Delete { path: path.unwrap_or_else(|| clean_single(old)) })
            }
            (Some((PatchSide::File(old), PatchSide::File(new))), _) => self.operation_of_pair(old, new),
            (Some(_), _) => Err(self.header_error("`/dev/null` is on the wrong side for these headers")),
            (None, Some((old, new))) if old.clean == new.clean => Ok(self.one_file(old, new)),
            (None, _) => {
                Err(self.header_error("the file names cannot be read; add `--- a/FILE` and `+++ b/FILE`"))
            }
        }
    }

    fn operation_of_pair(&self, old: &str, new: &str) -> Result<FilePatchOperation, PatchError> {
        let (old_path, new_path) = clean_pair(old, new);
        if old_path.clean == new_path.clean {
            return Ok(self.one_file(old_path, new_path));
        }
        if self.is_git {
            return Err(
                self.header_error("the two names differ; a rename needs `rename from` and `rename to`")
            );
        }
        // `x.c.orig` against `x.c`: the shorter one is the file, as git has it; else the new one.
        let path = if new_path.clean.starts_with(&old_path.clean) { old_path } else { new_path };
        Ok(FilePatchOperation::Modify { path })
    }

    fn one_file(&self, old: PatchPath, new: PatchPath) -> FilePatchOperation {
        if self.is_new {
            FilePatchOperation::Create { path: new }
        } else if self.is_deleted {
            FilePatchOperation::Delete { path: old }
        } else {
            FilePatchOperation::Modify { path: new }
        }
    }

    fn header_error(&self, what: &str) -> PatchError {
        self_header(self.line - 1, what)
    }
}

fn self_header(at: usize, what: &str) -> PatchError {
    PatchError::Header { line: at + 1, what: what.to_owned() }
}

/// A mode as git writes it, in octal digits.
fn file_mode(mode: &str, at: usize) -> Result<FileMode, PatchError> {
    let mode = mode.trim();
    let bits = u32::from_str_radix(mode, 8).unwrap_or(0);
    let what = match bits & 0o170_000 {
        0o100_000 if bits & 0o100 != 0 => return Ok(FileMode::Executable),
        0o100_000 => return Ok(FileMode::Regular),
        0o120_000 => "a symbolic link",
        0o160_000 => "a submodule",
        0o040_000 => "a folder",
        _ => "not a file",
    };
    Err(PatchError::Mode { line: at + 1, mode: super::error::error_excerpt(mode), what })
}
