//! The files and folders that a command may write, without those that an earlier command could have
//! replaced by a link.
//!
//! The kernel's rules name folders. They are made for each command, by path. A command can replace
//! anything beneath a writable folder with a link, and the rule of the next command would then
//! apply to the link's target. A path that is looked up inside another writable folder is therefore
//! left out: without tampering, it adds nothing. The remaining paths can only be replaced by a
//! process that may write outside.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::platform::paths::top_of;

/// The maximum number of links followed for one path, as in Linux.
const MAX_WRITABLE_PATH_SYMLINKS: usize = 40;

/// A path as the system looks it up.
#[derive(Debug)]
struct LookedUp {
    /// The folders that were searched for a name, by canonical path.
    folders: Vec<PathBuf>,
    /// Those of them in which a link was followed.
    links: Vec<PathBuf>,
    /// The target of the path, without links.
    target: PathBuf,
}

impl LookedUp {
    /// `None` if the path does not exist.
    fn resolve(path: &Path) -> Option<Self> {
        let mut left: VecDeque<OsString> = parts(path).collect();
        let (mut folders, mut links, mut target) = (Vec::new(), Vec::new(), top_of(path).to_owned());
        while let Some(part) = left.pop_front() {
            if part == ".." {
                target.pop();
                continue;
            }
            let next = target.join(&part);
            if !fs::symlink_metadata(&next).ok()?.is_symlink() {
                folders.push(std::mem::replace(&mut target, next));
                continue;
            }
            let link = fs::read_link(&next).ok().filter(|_| links.len() < MAX_WRITABLE_PATH_SYMLINKS)?;
            folders.push(target.clone());
            links.push(target.clone());
            if link.is_absolute() {
                target = top_of(&link).to_owned();
            }
            for part in parts(&link).collect::<Vec<_>>().into_iter().rev() {
                left.push_front(part);
            }
        }
        Some(Self { folders, links, target })
    }

    fn passes_through(&self, writable: &Path) -> bool {
        self.folders.iter().any(|folder| folder.starts_with(writable))
    }
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(_) | Component::ParentDir => Some(part.as_os_str().to_owned()),
        _ => None,
    })
}

/// Returns the existing paths that commands may write, absolute and without links.
///
/// `always` holds paths that only the system's owner can replace (`/tmp`, devices). A path of
/// `chosen` is left out if it lies, or is reached, in another writable path.
pub(crate) fn writable_paths(always: &[&str], chosen: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let always = always.iter().filter_map(|path| Some(LookedUp::resolve(Path::new(path))?.target));
    let mut writable: Vec<PathBuf> = always.collect();
    let chosen: Vec<LookedUp> = chosen
        .into_iter()
        .filter(|path| path.is_absolute())
        .filter_map(|path| LookedUp::resolve(&path))
        .collect();
    // Links first: the target of one may be anything, even the folder above all the others.
    let is_led = |(index, path): &(usize, &LookedUp)| {
        let others = chosen.iter().enumerate().filter(|(other, _)| other != index);
        let places = writable.iter().chain(others.map(|(_, other)| &other.target));
        places.into_iter().any(|place| path.links.iter().any(|link| link.starts_with(place)))
    };
    let chosen: Vec<&LookedUp> =
        chosen.iter().enumerate().filter(|path| !is_led(path)).map(|(_, path)| path).collect();
    let mut kept: Vec<&LookedUp> = Vec::new();
    for path in chosen {
        let mut targets = writable.iter().chain(kept.iter().map(|kept| &kept.target));
        if targets.any(|other| path.passes_through(other) || path.target == *other) {
            continue;
        }
        kept.retain(|other| !other.passes_through(&path.target));
        kept.push(path);
    }
    writable.extend(kept.into_iter().map(|kept| kept.target.clone()));
    writable
}

#[cfg(test)]
mod tests {
    use crate::platform::canonicalize;
    use crate::platform::files::symlink;

    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(folders: &[&str]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            folders.iter().for_each(|folder| fs::create_dir_all(tree.at(folder)).unwrap());
            tree
        }

        fn at(&self, path: &str) -> PathBuf {
            canonicalize(self.0.path()).unwrap().join(path)
        }

        fn writable(&self, always: &[&str], chosen: &[&str]) -> Vec<String> {
            let always: Vec<String> =
                always.iter().map(|path| self.at(path).to_str().unwrap().to_owned()).collect();
            let always: Vec<&str> = always.iter().map(String::as_str).collect();
            let found = writable_paths(&always, chosen.iter().map(|path| self.at(path)));
            let root = self.at("");
            found.iter().map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()).collect()
        }
    }

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn path_inside_writable_folder_is_left_out_even_behind_symlink() {
        let tree = Tree::new(&["tmp/inner", "home", "work/target", "cache/own"]);
        symlink(tree.at("home"), tree.at("tmp/swapped")).unwrap();
        symlink(tree.at("home"), tree.at("work/swapped")).unwrap();
        assert_eq!(tree.writable(&["tmp"], &["work", "tmp/inner", "tmp/swapped"]), ["tmp", "work"]);
        assert_eq!(tree.writable(&["tmp"], &["work", "work/target", "work/swapped"]), ["tmp", "work"]);
        // The same holds for a link to the folder above all of them.
        symlink(tree.at(""), tree.at("work/above")).unwrap();
        assert_eq!(tree.writable(&[], &["work/above", "work"]), ["work"]);
        assert_eq!(tree.writable(&[], &["work", "work/above"]), ["work"]);
        // The order does not matter.
        assert_eq!(tree.writable(&[], &["work/swapped", "work/target", "work"]), ["work"]);
        assert_eq!(tree.writable(&[], &["work", "work/swapped"]), ["work"]);
        assert_eq!(
            tree.writable(&["tmp"], &["work/../tmp/swapped", "missing", "cache/own"]),
            ["tmp", "cache/own"]
        );
    }

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn symlink_through_writable_folder_is_left_out() {
        let tree = Tree::new(&["tmp", "home", "own"]);
        symlink(tree.at("tmp/next"), tree.at("own/link")).unwrap();
        symlink(tree.at("home"), tree.at("tmp/next")).unwrap();
        assert_eq!(tree.writable(&["tmp"], &["own/link"]), ["tmp"]);
        // Only its owner can change this one.
        symlink(tree.at("home"), tree.at("own/safe")).unwrap();
        assert_eq!(tree.writable(&["tmp"], &["own/safe"]), ["tmp", "home"]);
        symlink("loop", tree.at("own/loop")).unwrap();
        assert_eq!(tree.writable(&["tmp"], &["own/loop"]), ["tmp"]);
    }
}
