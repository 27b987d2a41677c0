//! The folders in which the packages of a project without a build file start.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::config::Catalogue;
use crate::config::spec::SourceRoots;
use crate::platform::paths::with_slashes;
use crate::workspace::{WalkLimits, Workspace, WorkspacePath};

/// The most files that are read.
const MAX_FILES: usize = 20_000;
/// The longest time for reading them.
const MAX_TIME: Duration = Duration::from_secs(2);
/// The part of a file that is searched for the name of its package, in bytes.
const MAX_HEAD_BYTES: usize = 16 << 10;

impl SourceRoots {
    /// The folders, relative to `root` ("" is the root), from which the packages of files in
    /// `languages` lead to the files. `None` if the root has a build file, or if nothing was found.
    pub(crate) fn search(
        &self,
        workspace: &Workspace,
        catalogue: &Catalogue,
        languages: &[String],
        root: &WorkspacePath,
    ) -> Option<BTreeSet<String>> {
        let folder = workspace.absolute(root);
        if self.unless.iter().any(|name| folder.join(name).exists()) {
            return None;
        }
        let deadline = Instant::now() + MAX_TIME;
        let walk = workspace.files(root, &WalkLimits { max_files: MAX_FILES, deadline });
        let is_own = |path: &&WorkspacePath| {
            let language = catalogue.language_of(&path.name_lossy(), None);
            language.is_some_and(|language| languages.iter().any(|own| own == language))
        };
        let mut roots = BTreeSet::new();
        for path in walk.files.iter().filter(is_own) {
            if Instant::now() > deadline {
                break;
            }
            let Ok((head, _)) = workspace.read_head(path, MAX_HEAD_BYTES) else { continue };
            let head = String::from_utf8_lossy(&head);
            let package = self.package.first_group(&head).unwrap_or_default();
            let below_root = path.as_path().strip_prefix(root.as_path()).ok();
            roots.extend(below_root.and_then(Path::parent).and_then(|folder| start_of(folder, package)));
        }
        Some(roots).filter(|roots| !roots.is_empty())
    }
}

/// The folder below which `folder` is that of `package` (dotted); `None` if it is not.
fn start_of(folder: &Path, package: &str) -> Option<String> {
    let mut start = folder;
    for name in package.split('.').filter(|name| !name.is_empty()).rev() {
        start = start.parent().filter(|_| start.file_name().is_some_and(|last| last == name))?;
    }
    with_slashes(start.to_owned()).to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_start_where_their_names_lead_to_the_folder() {
        for (folder, package, start) in [
            ("src/com/acme", "com.acme", Some("src")),
            ("com/acme", "com.acme", Some("")),
            ("", "", Some("")),
            ("src/acme", "", Some("src/acme")),
            ("src/acme", "com.acme", None),
            ("acme", "com.acme", None),
        ] {
            assert_eq!(start_of(Path::new(folder), package).as_deref(), start, "{folder} {package}");
        }
    }
}
