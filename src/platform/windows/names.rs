//! The names that Windows gives another meaning.

use std::path::{Component, Path};

/// The names of devices, in every folder and with every extension.
const DEVICES: &[&str] = &["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// Returns true if each name of the relative `path` is the name of an ordinary file: no device, no
/// stream of a file (`a::$DATA`), no drive, no wildcard, and nothing that the system shortens
/// (`a.`, `a `).
pub(crate) fn is_usable_name(path: &Path) -> bool {
    path.components().all(|component| match component {
        Component::CurDir => true,
        Component::Normal(name) => name.to_str().is_some_and(is_ordinary),
        _ => false,
    })
}

fn is_ordinary(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let is_device = DEVICES.iter().any(|device| device.eq_ignore_ascii_case(stem))
        || (stem.len() == 4
            && stem.is_char_boundary(3)
            && ["COM", "LPT"].iter().any(|port| port.eq_ignore_ascii_case(&stem[..3]))
            && stem.ends_with(|digit: char| digit.is_ascii_digit()));
    !is_device
        && !name.ends_with(['.', ' '])
        && !name.contains(|letter: char| letter < ' ' || "<>:\"|?*".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_streams_and_drives_are_not_usable() {
        for name in ["a.py", ".", "con.d/a", "console", "com10", "a b", "..a", "ä", "COMx"] {
            let is_usable = is_usable_name(Path::new(name));
            assert_eq!(is_usable, name != "con.d/a", "{name}");
        }
        for name in
            ["CON", "nul", "NUL.txt", "com1", "LPT9.log", "a.", "a ", "a.txt::$DATA", "C:a", "a?", "a\u{1}"]
        {
            assert!(!is_usable_name(Path::new(name)), "{name}");
        }
    }
}
