//! Names of commits, as users give them, resolved without letting git follow the repository's
//! references.

use std::ffi::OsString;

use super::GitError;
use super::repository::Repository;
use super::shadow::ShadowRepository;

/// The longest name, in bytes.
const MAX_REVISION_BYTES: usize = 256;

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ComparedTree {
    /// A commit or tree, by its id.
    Object(String),
    /// The staged files.
    Index,
    /// The files on disk, including untracked ones.
    WorkTree,
}

/// Two trees of one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// The id of the commit before.
    pub before: String,
    /// The later tree.
    pub after: ComparedTree,
}

/// A range that a user gives: `REF` with the work tree, `REF...` with the work tree from the merge
/// base, `REF1..REF2`, or `REF1...REF2` from their common ancestor.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RevisionRange<'a> {
    first: &'a str,
    second: Option<&'a str>,
    from_merge_base: bool,
}

impl<'a> RevisionRange<'a> {
    fn parse(given: &'a str) -> Self {
        let side = |text: &'a str| Some(text).filter(|text| !text.is_empty());
        let (first, second, from_merge_base) = match (given.split_once("..."), given.split_once("..")) {
            (Some((first, second)), _) => (first, side(second), true),
            (None, Some((first, second))) => (first, Some(side(second).unwrap_or("HEAD")), false),
            (None, None) => (given, None, false),
        };
        Self { first: side(first).unwrap_or("HEAD"), second, from_merge_base }
    }
}

impl Comparison {
    /// Resolves `given`. If `index`, the later side is the index instead of the work tree.
    ///
    /// # Errors
    /// [`GitError::UnknownRevision`], [`GitError::InvalidRevision`], [`GitError::NoMergeBase`], and
    /// failures of git.
    pub(crate) async fn resolve(
        shadow: &ShadowRepository,
        repository: &Repository,
        given: &str,
        index: bool,
    ) -> Result<Self, GitError> {
        let range = RevisionRange::parse(given);
        let first = commit(shadow, repository, range.first).await?;
        let second = match range.second {
            Some(name) if index => {
                let why = "a second commit and the index cannot both be the later side";
                return Err(GitError::InvalidRevision { name: name.to_owned(), why });
            }
            Some(name) => Some(commit(shadow, repository, name).await?),
            None => None,
        };
        let before = match range.from_merge_base {
            false => first,
            true => {
                let other = range.second.unwrap_or("HEAD");
                let id = match &second {
                    Some(id) => id.clone(),
                    None => commit(shadow, repository, other).await?,
                };
                common_ancestor(shadow, repository, &[(range.first, &first), (other, &id)]).await?
            }
        };
        let after = match second {
            Some(id) => ComparedTree::Object(id),
            None if index => ComparedTree::Index,
            None => ComparedTree::WorkTree,
        };
        Ok(Self { before, after })
    }
}

/// The id of the commit that `name` means.
///
/// # Errors
/// [`GitError::UnknownRevision`], [`GitError::InvalidRevision`], and failures of git.
pub(crate) async fn commit(
    shadow: &ShadowRepository,
    repository: &Repository,
    name: &str,
) -> Result<String, GitError> {
    check_name(name)?;
    let unknown = || GitError::UnknownRevision { name: name.to_owned(), shallow: shadow.is_shallow() };
    let at = name.find(['~', '^']).unwrap_or(name.len());
    let (base, steps) = name.split_at(at);
    let base = if base.is_empty() || base == "@" { "HEAD" } else { base };
    let id = match repository.reference(base)? {
        Some(id) => id,
        None if base.len() >= 4 && base.bytes().all(|byte| byte.is_ascii_hexdigit()) => base.to_owned(),
        None => return Err(unknown()),
    };
    let expression = format!("{id}{steps}^{{commit}}");
    let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &expression];
    match shadow.run(repository, &args.map(OsString::from)).await {
        Ok(done) => Ok(first_line(&done.output)),
        Err(GitError::Failed { .. }) => Err(unknown()),
        Err(error) => Err(error),
    }
}

/// Returns true if the commit `id` is HEAD or an ancestor of it; false if git fails.
pub(crate) async fn is_ancestor_of_head(
    shadow: &ShadowRepository,
    repository: &Repository,
    id: &str,
) -> bool {
    let Ok(head) = commit(shadow, repository, "HEAD").await else { return false };
    let args = ["merge-base", "--is-ancestor", id, &head].map(OsString::from);
    shadow.run(repository, &args).await.is_ok()
}

/// The best common ancestor of all of `commits`, given by names and ids.
///
/// # Errors
/// [`GitError::NoMergeBase`], and failures of git.
pub(crate) async fn common_ancestor(
    shadow: &ShadowRepository,
    repository: &Repository,
    commits: &[(&str, &str)],
) -> Result<String, GitError> {
    let ids = commits.iter().map(|(_, id)| id.into());
    let args: Vec<OsString> = ["merge-base".into(), "--octopus".into()].into_iter().chain(ids).collect();
    match shadow.run(repository, &args).await {
        Ok(done) => Ok(first_line(&done.output)),
        Err(GitError::Failed { .. }) => {
            let name = |at: usize| commits.get(at).map(|(name, _)| (*name).to_owned()).unwrap_or_default();
            Err(GitError::NoMergeBase { one: name(0), other: name(1), shallow: shadow.is_shallow() })
        }
        Err(error) => Err(error),
    }
}

fn check_name(name: &str) -> Result<(), GitError> {
    let why = match name {
        "" => "it is empty",
        _ if name.len() > MAX_REVISION_BYTES => "it is too long",
        _ if name.starts_with('-') => "it begins with a dash",
        _ if name.chars().any(|c| c.is_control() || c.is_whitespace()) => "it contains spaces",
        _ if name.contains("@{") => "reflogs and upstream branches are not read; name the commit or branch",
        _ if name.contains(':') => "it names a file in a commit",
        _ => return Ok(()),
    };
    let name = name.chars().take(MAX_REVISION_BYTES).collect::<String>().escape_debug().to_string();
    Err(GitError::InvalidRevision { name, why })
}

/// The first line of git's output, without its end.
pub(super) fn first_line(output: &[u8]) -> String {
    String::from_utf8_lossy(output).lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(given: &str) -> (&str, Option<&str>, bool) {
        let range = RevisionRange::parse(given);
        (range.first, range.second, range.from_merge_base)
    }

    #[test]
    fn revision_ranges_name_their_sides() {
        assert_eq!(parsed("main"), ("main", None, false));
        assert_eq!(parsed("v1..v2"), ("v1", Some("v2"), false));
        assert_eq!(parsed("v1.."), ("v1", Some("HEAD"), false));
        assert_eq!(parsed("main..."), ("main", None, true));
        assert_eq!(parsed("main...topic"), ("main", Some("topic"), true));
    }

    #[test]
    fn revision_names_that_are_options_files_or_reflogs_are_refused() {
        for name in ["", "--upload-pack=x", "a b", "HEAD@{1}", "HEAD:secret", "x\ny"] {
            assert!(check_name(name).is_err(), "{name}");
        }
        assert!(check_name("origin/main~2^1").is_ok());
    }
}
