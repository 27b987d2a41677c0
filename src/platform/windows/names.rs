//! Names with a special meaning on Windows.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::attributes::{FILE_FLAG_OPEN_REPARSE_POINT, open_to_inspect};

/// The names of devices, in every folder and with every extension.
const DEVICES: &[&str] = &["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"];

/// Returns true if each name of the relative `path` is the name of an ordinary file: no device, no
/// stream of a file (`a::$DATA`), no drive, no wildcard, and nothing that the system shortens
/// (`a.`, `a `).
pub(crate) fn is_usable_path(path: &Path) -> bool {
    path.components().all(|component| match component {
        Component::CurDir => true,
        Component::Normal(name) => name.to_str().is_some_and(is_ordinary),
        _ => false,
    })
}

fn is_ordinary(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let is_device = DEVICES.iter().any(|device| device.eq_ignore_ascii_case(stem))
        || stem.split_at_checked(3).is_some_and(|(port, number)| {
            // The digits that are written above the line count as well.
            let is_number = number.chars().count() == 1
                && number.starts_with(|digit: char| "0123456789¹²³".contains(digit));
            is_number && ["COM", "LPT"].iter().any(|name| name.eq_ignore_ascii_case(port))
        });
    !is_device
        && !name.ends_with(['.', ' '])
        && !name.contains(|letter: char| letter < ' ' || "<>:\"|?*".contains(letter))
}

/// Returns the relative `path` beneath `root` with the names that the file system has for those that
/// it also knows by a short name (`LSP-TO~1`): rules are about the long ones. `None` if no name can
/// be short.
pub(crate) fn long_names(root: &Path, path: &Path) -> Option<PathBuf> {
    if !path.as_os_str().as_encoded_bytes().contains(&b'~') {
        return None;
    }
    let mut whole = root.to_owned();
    let mut long = PathBuf::new();
    for name in path.components() {
        whole.push(name);
        match on_disk(&whole) {
            Some(name) => long.push(name),
            None => long.push(name),
        }
    }
    Some(long)
}

/// The name of the object at `path`, links not followed, as the file system has it.
fn on_disk(path: &Path) -> Option<OsString> {
    let object = open_to_inspect(path, FILE_FLAG_OPEN_REPARSE_POINT).ok()?;
    Some(winx::file::get_file_path(&object).ok()?.file_name()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_streams_and_drives_are_not_usable() {
        for name in ["a.py", ".", "con.d/a", "console", "com10", "a b", "..a", "ä", "COMx", "COM¹²"] {
            let is_usable = is_usable_path(Path::new(name));
            assert_eq!(is_usable, name != "con.d/a", "{name}");
        }
        for name in [
            "CON",
            "nul",
            "NUL.txt",
            "com1",
            "LPT9.log",
            "COM¹",
            "lpt².txt",
            "clock$",
            "a.",
            "a ",
            "a.txt::$DATA",
            "C:a",
            "a?",
            "a\u{1}",
        ] {
            assert!(!is_usable_path(Path::new(name)), "{name}");
        }
    }
}
