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
const MAX_HEAD_BYTES: usize = 32 << 10;

/// The result of a search for source folders.
pub(crate) struct FoundRoots {
    /// The folders, relative to the root; "" is the root itself.
    pub(crate) folders: BTreeSet<String>,
    /// True if not all files were read.
    pub(crate) is_cut: bool,
}

impl SourceRoots {
    /// The folders from which the packages of files in `languages` lead to the files, without those
    /// of projects below `root` that have a build file. `None` if the root has one.
    pub(crate) fn search(
        &self,
        workspace: &Workspace,
        catalogue: &Catalogue,
        languages: &[String],
        root: &WorkspacePath,
    ) -> Option<FoundRoots> {
        let folder = workspace.absolute(root);
        if self.unless.iter().any(|name| folder.join(name).exists()) {
            return None;
        }
        let deadline = Instant::now() + MAX_TIME;
        let walk = workspace.files(root, &WalkLimits { max_files: MAX_FILES, deadline });
        let is_build_file = |path: &&WorkspacePath| self.unless.iter().any(|name| *name == path.name_lossy());
        let projects: Vec<WorkspacePath> =
            walk.files.iter().filter(is_build_file).filter_map(WorkspacePath::parent).collect();
        let is_own = |path: &&WorkspacePath| {
            let language = catalogue.language_of(&path.name_lossy(), None);
            language.is_some_and(|language| languages.iter().any(|own| own == language))
                && !projects.iter().any(|project| path.starts_with(project))
        };
        let mut found = FoundRoots { folders: BTreeSet::new(), is_cut: walk.truncated };
        for path in walk.files.iter().filter(is_own) {
            if Instant::now() > deadline {
                found.is_cut = true;
                break;
            }
            let Ok((head, _)) = workspace.read_head(path, MAX_HEAD_BYTES) else { continue };
            let below_root = path.as_path().strip_prefix(root.as_path()).ok();
            let folder = below_root.and_then(Path::parent);
            let package = self.package_of(&String::from_utf8_lossy(&head));
            found
                .folders
                .extend(folder.zip(package).and_then(|(folder, package)| start_of(folder, &package)));
        }
        Some(found)
    }

    /// The package of a file, dotted; empty if it has none, `None` if that is not certain.
    fn package_of(&self, head: &str) -> Option<String> {
        if let Some(package) = self.package.first_group(head) {
            return Some(package.to_owned());
        }
        let may_have_one = head.len() >= MAX_HEAD_BYTES || head.contains("package") || head.contains('\0');
        (!may_have_one).then(String::new)
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

    #[test]
    fn package_of_java_is_read_behind_comments_and_annotations() {
        let rule = Catalogue::built_in().servers["jdtls"].source_roots.clone().unwrap();
        for (head, package) in [
            ("package a.b;", Some("a.b")),
            ("\u{feff}// package x;\r\n/* package y;\n*/ package  a.b ;\r\n", Some("a.b")),
            ("@Deprecated @Named(\"x\")\npackage a.b;", Some("a.b")),
            ("/* package z; */\nclass A {}", None),
            ("import x.Y;\nclass A {}", Some("")),
            ("package a /* x */ . b;", None),
            ("p\0a\0c\0k\0", None),
        ] {
            assert_eq!(rule.package_of(head).as_deref(), package, "{head}");
        }
        assert_eq!(rule.package_of(&"/".repeat(MAX_HEAD_BYTES)), None);
    }

    #[test]
    fn projects_with_a_build_file_have_no_source_folders_of_the_outer_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = crate::platform::canonicalize(folder.path()).unwrap();
        for (file, text) in [
            ("src/a/A.java", "package a;"),
            ("service/pom.xml", ""),
            ("service/src/main/java/b/B.java", "package b;"),
        ] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), text).unwrap();
        }
        let (workspace, catalogue) = (Workspace::open(&root).unwrap(), Catalogue::built_in());
        let rule = catalogue.servers["jdtls"].source_roots.clone().unwrap();
        let search = |root: &WorkspacePath| rule.search(&workspace, catalogue, &["java".to_owned()], root);
        let found = search(&WorkspacePath::root()).unwrap();
        assert_eq!((Vec::from_iter(found.folders), found.is_cut), (vec!["src".to_owned()], false));
        assert!(search(&WorkspacePath::root().join("service").unwrap()).is_none());
    }
}
