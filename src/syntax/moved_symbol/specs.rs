//! Names of modules in import statements, computed from the paths of the files.

use crate::workspace::WorkspacePath;

/// The endings that an import of JavaScript may write.
const WRITTEN_ENDINGS: [&str; 8] = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"];

/// The endings of files that imports may leave out, each before the endings that it ends in.
const FILE_ENDINGS: [&str; 13] = [
    ".d.ts", ".d.mts", ".d.cts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".py", ".pyi",
];

/// The file name `name` without its ending; `None` if the ending is not one that imports leave out.
pub(super) fn without_ending(name: &str) -> Option<&str> {
    FILE_ENDINGS.iter().find_map(|ending| name.strip_suffix(*ending))
}

/// The names of the folders of `path`, and its own.
pub(super) fn path_parts(path: &WorkspacePath) -> Vec<String> {
    path.as_path().iter().map(|part| part.to_string_lossy().into_owned()).collect()
}

/// The names of the folders of `path` and its own, without the ending. A package of Python is its
/// folder.
pub(super) fn module_parts(path: &WorkspacePath) -> Vec<String> {
    let mut parts = path_parts(path);
    if let Some(last) = parts.pop() {
        let stem = without_ending(&last).or_else(|| last.split('.').next()).unwrap_or_default();
        parts.extend((stem != "__init__").then(|| stem.to_owned()));
    }
    parts
}

/// The folder that absolute imports begin at, if they call the file `known` by the dotted `spec`.
pub(super) fn root_of(spec: &str, known: &WorkspacePath) -> Option<Vec<String>> {
    let (known, spec) = (module_parts(known), spec.split('.').collect::<Vec<_>>());
    let root = known.len().checked_sub(spec.len())?;
    (known[root..] == spec[..]).then(|| known[..root].to_vec())
}

/// The dotted name of `target` below the folder `root`.
pub(super) fn dotted(root: &[String], target: &WorkspacePath) -> Option<String> {
    let target = module_parts(target);
    target.strip_prefix(root).filter(|rest| !rest.is_empty()).map(|rest| rest.join("."))
}

/// The name that `file` gives to the Python module `target` in a relative import; `None` if a
/// folder that the dots climb to is neither a package nor `top`, which relative imports reach
/// already, or below it.
pub(super) fn relative(
    file: &WorkspacePath,
    target: &[String],
    top: &[String],
    is_package: &dyn Fn(&[String]) -> bool,
) -> Option<String> {
    let package = path_parts(&file.parent()?);
    let common = package.iter().zip(target).take_while(|(one, other)| one == other).count();
    let is_reached = |depth: usize| package[..depth].starts_with(top) || is_package(&package[..depth]);
    let dots = package.len() - common + 1;
    let is_possible = (common..package.len()).all(is_reached);
    is_possible.then(|| format!("{}{}", ".".repeat(dots), target[common..].join(".")))
}

/// The name that `file` gives to `target`, in the way in which `spec` names `known`; `None` if that
/// way does not lead there. `is_package` decides whether a folder is a package of Python.
pub(super) fn respelled(
    key: &str,
    file: &WorkspacePath,
    spec: &str,
    known: &WorkspacePath,
    target: &WorkspacePath,
    is_package: &dyn Fn(&[String]) -> bool,
) -> Option<String> {
    if key != "python" {
        return javascript(file, spec, known, target);
    }
    match spec.len() - spec.trim_start_matches('.').len() {
        0 => dotted(&root_of(spec, known)?, target),
        dots => {
            let folder = path_parts(&file.parent()?);
            let top = &folder[..(folder.len() + 1).checked_sub(dots)?];
            relative(file, &module_parts(target), top, is_package)
        }
    }
}

fn javascript(
    file: &WorkspacePath,
    spec: &str,
    known: &WorkspacePath,
    target: &WorkspacePath,
) -> Option<String> {
    let ending = WRITTEN_ENDINGS.iter().find(|ending| spec.ends_with(**ending)).copied().unwrap_or_default();
    let (known, target) = (module_parts(known), module_parts(target));
    if spec.starts_with('.') {
        let folder = module_parts(&file.parent()?.join("x").ok()?);
        let folder = &folder[..folder.len() - 1];
        let common = folder.iter().zip(&target).take_while(|(one, other)| one == other).count();
        let up = folder.len() - common;
        let head = if up == 0 { "./".to_owned() } else { "../".repeat(up) };
        return Some(format!("{head}{}{ending}", target[common..].join("/")));
    }
    let written: Vec<&str> = spec.strip_suffix(ending).unwrap_or(spec).split('/').collect();
    let shared = written.iter().rev().zip(known.iter().rev()).take_while(|(one, other)| one == other).count();
    let rest = target.strip_prefix(&known[..known.len() - shared]).filter(|_| shared > 0)?;
    Some(format!("{}/{}{ending}", written[..written.len() - shared].join("/"), rest.join("/")))
}
