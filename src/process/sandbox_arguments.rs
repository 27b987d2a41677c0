//! The arguments that make our binary confine itself in the sandbox and become another program.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The hidden first argument that makes our binary confine itself and become another program.
pub(crate) const ENTER: &str = "__sandbox";

/// Marks a process as the first one of a process namespace.
#[cfg(supervised)]
pub(super) const FIRST: &str = "--first";
/// Restricts the program to the folders that follow.
pub(super) const LANDLOCK: &str = "--landlock";
const NO_TCP: &str = "--no-tcp";
const END: &str = "--";

/// The restrictions on a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Confinement {
    /// Writable files and folders, by absolute path without links
    /// ([`writable_paths`](super::writable::writable_paths)). A missing path is left out; if one
    /// has become a link, nothing is run.
    pub(crate) writable: Vec<PathBuf>,
    /// True if TCP is blocked.
    pub(crate) no_tcp: bool,
}

/// The arguments for our own binary that make it become `program`, confined if `confinement` is
/// given.
pub(crate) fn arguments(confinement: Option<&Confinement>, program: &[&OsStr]) -> Vec<OsString> {
    let mut arguments = vec![OsString::from(ENTER)];
    if let Some(confinement) = confinement {
        arguments.push(LANDLOCK.into());
        arguments.extend(confinement.no_tcp.then(|| NO_TCP.into()));
        arguments.extend(confinement.writable.iter().map(Into::into));
    }
    arguments.push(END.into());
    arguments.extend(program.iter().map(Into::into));
    arguments
}

/// The arguments of the sandbox process, before the program's name.
#[cfg(supervised)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SandboxArguments {
    /// The restrictions; `None` for an unrestricted command.
    pub(super) confinement: Option<Confinement>,
    /// True for the first process of a process namespace.
    pub(super) is_first: bool,
}

#[cfg(supervised)]
impl SandboxArguments {
    /// Parses the arguments before the program's name.
    pub(super) fn read(args: &mut impl Iterator<Item = OsString>) -> Self {
        let kept = || Confinement { writable: Vec::new(), no_tcp: false };
        let mut read = Self { confinement: None, is_first: false };
        for arg in args {
            match arg.to_str() {
                Some(END) => break,
                Some(FIRST) if read.confinement.is_none() => read.is_first = true,
                Some(LANDLOCK) => read.confinement = Some(kept()),
                Some(NO_TCP) => read.confinement.get_or_insert_with(kept).no_tcp = true,
                _ => read.confinement.get_or_insert_with(kept).writable.push(arg.into()),
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandbox_arguments_encode_the_confinement_and_program() {
        let program = [OsStr::new("/bin/sh"), OsStr::new("-lc"), OsStr::new("--")];
        let confinement = Confinement { writable: vec!["/w".into(), "/tmp".into()], no_tcp: true };
        assert_eq!(
            arguments(Some(&confinement), &program),
            ["__sandbox", "--landlock", "--no-tcp", "/w", "/tmp", "--", "/bin/sh", "-lc", "--"]
        );
        assert_eq!(arguments(None, &program[..1]), ["__sandbox", "--", "/bin/sh"]);
    }
}
