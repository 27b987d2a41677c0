//! Paths as the system resolves them, and the names of programs.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf, Prefix};

/// Returns `path` absolute and without links, spelled as other programs spell it. The object must
/// exist.
///
/// # Errors
/// The system cannot resolve it.
pub(crate) fn canonicalize(path: impl AsRef<Path>) -> std::io::Result<PathBuf> {
    #[cfg(unix)]
    return std::fs::canonicalize(path);
    // `\\?\C:\a` is the same as `C:\a`, which all programs understand.
    #[cfg(windows)]
    return dunce::canonicalize(path);
}

/// Returns true if the file at `path`, links followed, is regular and may be run by some user.
#[cfg(unix)]
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Returns true if the file at `path`, links followed, is regular and has the name of a program or
/// of a script that the system's command interpreter runs.
#[cfg(windows)]
pub(crate) fn is_program(path: &Path) -> bool {
    let extension = path.extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    ["exe", "com", "cmd", "bat"].iter().any(|program| program.eq_ignore_ascii_case(extension))
        && path.is_file()
}

/// Returns the program at `path`, which on Windows may lack the ending of its name.
pub(crate) fn program_at(path: PathBuf) -> Option<PathBuf> {
    if is_program(&path) {
        return Some(path);
    }
    let ending = |ending: &str| {
        let mut path = path.clone().into_os_string();
        path.push(ending);
        PathBuf::from(path)
    };
    let endings = if cfg!(windows) { &[".exe", ".cmd", ".bat"][..] } else { &[] };
    endings.iter().map(|name| ending(name)).find(|path| is_program(path))
}

/// The script, relative to the folder of the file, that Node.js runs in a batch file of npm, and
/// nothing else; `None` for another text. The system's command interpreter would read arguments as
/// words of its own.
pub(crate) fn script_of_batch_file(text: &str) -> Option<&str> {
    text.contains("SET \"_prog=node\"").then_some(())?;
    let (_, call) = text.trim_end().rsplit_once("\"%_prog%\"")?;
    let (script, arguments) = call.trim_start().strip_prefix("\"%dp0%\\")?.split_once('"')?;
    (arguments.trim() == "%*").then_some(script)
}

/// Makes `program` a program at `place` as well.
///
/// # Errors
/// The folder of `place` cannot be written.
pub(crate) fn link_program(program: &Path, place: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(program, place);
    // Another volume has no second name of it.
    #[cfg(windows)]
    return std::fs::hard_link(program, place).or_else(|_| std::fs::copy(program, place).map(drop));
}

/// Makes `place` lead to the folder `name` beside it, in one step.
///
/// # Errors
/// The folder of `place` cannot be written.
pub(crate) fn point_to_sibling(place: &Path, name: &OsStr) -> std::io::Result<()> {
    let new = place.with_extension("new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(name, &new)?;
    // Only developers and administrators may create links.
    #[cfg(windows)]
    std::fs::write(&new, name.as_encoded_bytes())?;
    std::fs::rename(new, place)
}

/// The name of the folder to which `place` leads since [`point_to_sibling`]; `None` if `place` does
/// not exist.
pub(crate) fn sibling_at(place: &Path) -> Option<PathBuf> {
    #[cfg(unix)]
    return std::fs::read_link(place).ok();
    #[cfg(windows)]
    return std::fs::read_to_string(place).ok().map(PathBuf::from);
}

/// The path by which the folder is reached to which `place` leads, existing or not.
pub(crate) fn through_sibling(place: PathBuf) -> PathBuf {
    match cfg!(windows).then(|| sibling_at(&place)).flatten() {
        Some(name) => place.with_file_name(name),
        None => place,
    }
}

#[cfg(windows)]
pub(crate) use super::windows::names::{is_usable_path, long_names};

/// Returns true: all names of the relative path may be used.
#[cfg(unix)]
pub(crate) fn is_usable_path(_: &Path) -> bool {
    true
}

/// Returns `None`: objects have no other names than those in their folders.
#[cfg(unix)]
pub(crate) fn long_names(_: &Path, _: &Path) -> Option<PathBuf> {
    None
}

/// True if a file system may take names that differ in case for the same one.
pub(crate) const MAY_FOLD_CASE: bool = cfg!(any(windows, target_vendor = "apple"));

/// The folder of the programs of a Python environment.
pub(crate) const ENVIRONMENT_PROGRAMS: &str = if cfg!(windows) { "Scripts" } else { "bin" };

/// The names by which Python's interpreter is called: in an environment, and on the search path.
pub(crate) const PYTHON: [&str; 2] =
    if cfg!(windows) { ["python.exe", "python"] } else { ["python", "python3"] };

/// Returns the folder in which the absolute `path` begins.
pub(crate) fn top_of(path: &Path) -> &Path {
    path.ancestors().last().unwrap_or(path)
}

/// Returns the relative `path` with `/` between its names.
pub(crate) fn with_slashes(path: PathBuf) -> PathBuf {
    if !cfg!(windows) || !path.as_os_str().as_encoded_bytes().contains(&b'\\') {
        return path;
    }
    let mut text = OsString::with_capacity(path.as_os_str().len());
    for name in &path {
        if !text.is_empty() {
            text.push("/");
        }
        text.push(name);
    }
    text.into()
}

/// Returns `text` of the same length, in which paths of one object are equal: on Windows, programs
/// spell a path with either separator, and with drives and names in any case.
pub(crate) fn fold_spelling(text: &str) -> Cow<'_, str> {
    if cfg!(windows) { text.replace('\\', "/").to_ascii_lowercase().into() } else { text.into() }
}

/// Returns true if the absolute `path` names a device, or another machine than `root`
/// (`\\server\share`). Windows identifies the user to a machine that is asked about a path.
pub(crate) fn is_on_another_machine(path: &Path, root: &Path) -> bool {
    let Some(Component::Prefix(given)) = path.components().next() else { return false };
    let is_of_root = matches!(root.components().next(),
        Some(Component::Prefix(own)) if own.as_os_str().eq_ignore_ascii_case(given.as_os_str()));
    !is_of_root && !matches!(given.kind(), Prefix::Disk(_) | Prefix::VerbatimDisk(_))
}

/// Joins `folder` and the relative `path`, with the system's separator between all names.
pub(crate) fn join(folder: &Path, path: &Path) -> PathBuf {
    if cfg!(windows) {
        path.iter().fold(folder.to_owned(), |whole, name| whole.join(name))
    } else {
        folder.join(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_devices_and_shares_are_on_another_machine() {
        let root = Path::new(r"\\Server\share\project");
        let is_elsewhere = |path: &str| is_on_another_machine(Path::new(path), root);
        for local in [r"C:\x", r"\\?\C:\x", "/x", r"\\server\SHARE\other"] {
            assert!(!is_elsewhere(local), "{local}");
        }
        for other in
            [r"\\evil\share\x", "//evil/share", r"\\?\UNC\evil\share", r"\\.\COM1", r"\\server\other"]
        {
            assert_eq!(is_elsewhere(other), cfg!(windows), "{other}");
        }
    }

    #[test]
    fn pointer_leads_to_the_folder_that_was_named_last() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("current");
        assert_eq!(sibling_at(&place), None);
        for name in ["one", "two"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            point_to_sibling(&place, OsStr::new(name)).unwrap();
            assert_eq!(sibling_at(&place), Some(PathBuf::from(name)));
            std::fs::write(through_sibling(place.clone()).join("file"), name).unwrap();
            assert!(folder.path().join(name).join("file").is_file());
        }
    }

    #[test]
    fn batch_file_of_npm_names_its_script() {
        let head = "@ECHO off\r\nSET \"_prog=node\"\r\n";
        let call =
            "goto #_undefined_# 2>NUL || title %COMSPEC% & \"%_prog%\"  \"%dp0%\\..\\pyright\\server.js\"";
        let script = |text: &str| script_of_batch_file(text).map(str::to_owned);
        assert_eq!(script(&format!("{head}{call} %*\r\n")).as_deref(), Some("..\\pyright\\server.js"));
        for other in
            [format!("{head}{call} --stdio %*"), format!("{call} %*"), "@echo off\r\nnode x.js %*".to_owned()]
        {
            assert_eq!(script(&other), None, "{other}");
        }
    }
}
