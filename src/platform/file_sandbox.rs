//! Restrictions that the kernel puts on a process and all its descendants: where it may write, and
//! whether it may use TCP (landlock(7)).

#[cfg(all(unix, not(linux_kernel)))]
use std::path::PathBuf;

#[cfg(linux_kernel)]
pub(crate) use linux::{confine, support};

/// The reason shown if changes of files cannot be restricted.
pub(crate) const REQUIREMENT: &str = if cfg!(target_os = "linux") {
    "the kernel has no Landlock of version 3 or newer (Linux 6.2, and `landlock` among its security modules)"
} else {
    "lsp-tools knows no sandbox of this system"
};

/// The restrictions that this kernel knows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KernelSupport {
    /// Changes of files outside of given folders.
    pub(crate) files: bool,
    /// TCP connections.
    pub(crate) tcp: bool,
    /// Signals to processes outside, and abstract Unix sockets.
    pub(crate) signals: bool,
}

#[cfg(linux_kernel)]
mod linux {
    use std::path::PathBuf;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
        RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
    };
    use rustix::fs::{FileType, OFlags, fstat};
    use rustix::io::Errno;
    use rustix::thread::{self, CapabilitySet, CapabilitySets};

    use super::KernelSupport;
    use crate::platform::jail::open_unlinked;

    /// The first version that keeps files outside from being emptied (`truncate`).
    const FILES: ABI = ABI::V3;
    const TCP: ABI = ABI::V4;
    const SIGNALS: ABI = ABI::V6;

    pub(crate) fn support() -> KernelSupport {
        let files = handling_files().and_then(Ruleset::create).is_ok();
        let required = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let tcp = required().handle_access(AccessNet::from_all(TCP)).and_then(Ruleset::create).is_ok();
        let signals = required().scope(Scope::from_all(SIGNALS)).and_then(Ruleset::create).is_ok();
        KernelSupport { files, tcp, signals }
    }

    /// Creates a ruleset that refuses every change on disk unless a rule allows it.
    fn handling_files() -> Result<Ruleset, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(FILES))
    }

    /// The write rights that a command keeps. The right to make devices is never among them,
    /// because a device bypasses all rules about files.
    fn allowed_rights() -> BitFlags<AccessFs> {
        AccessFs::from_write(FILES) & !(AccessFs::MakeBlock | AccessFs::MakeChar)
    }

    /// The reasons why a process could not be confined.
    #[derive(Debug, thiserror::Error)]
    pub(crate) enum ConfinementError {
        #[error(transparent)]
        Rules(#[from] RulesetError),
        #[error("{} cannot be opened, or a link was put in its place: {}", .0.display(), .1)]
        Writable(PathBuf, Errno),
        #[error("root privileges cannot be dropped: {0}")]
        Powers(Errno),
    }

    pub(crate) fn confine(writable: &[PathBuf], no_tcp: bool) -> Result<(), ConfinementError> {
        let mut rules = handling_files()?;
        if no_tcp {
            rules = rules.handle_access(AccessNet::from_all(TCP))?;
        }
        // Older kernels do not support the scope; the mandatory restrictions are about files.
        rules = rules.set_compatibility(CompatLevel::BestEffort).scope(Scope::from_all(SIGNALS))?;
        let mut rules = rules.create()?;
        for path in writable {
            let handle = match open_unlinked(path, OFlags::empty()) {
                Err(Errno::NOENT) => continue,
                handle => handle.map_err(|errno| ConfinementError::Writable(path.clone(), errno))?,
            };
            let stat = fstat(&handle).map_err(|errno| ConfinementError::Writable(path.clone(), errno))?;
            let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            let allowed =
                if is_folder { allowed_rights() } else { allowed_rights() & AccessFs::from_file(FILES) };
            rules = rules.add_rule(PathBeneath::new(handle, allowed))?;
        }
        rules.restrict_self()?;
        drop_capabilities().map_err(ConfinementError::Powers)
    }

    /// The capabilities of root that a confined command keeps: those over files, users and
    /// processes that installing, building and testing need, and that reach no further than the
    /// rules above.
    ///
    /// A list of removed capabilities would miss the ones that a later kernel adds. Not kept are,
    /// for example, those to mount, to trace, to set the clock, to raise priorities and limits, to
    /// configure and capture networks, to open files by their inode, and to mark files as immutable
    /// or as privileged programs.
    const KEPT: CapabilitySet = CapabilitySet::CHOWN // archives are unpacked with their owners
        .union(CapabilitySet::DAC_OVERRIDE) // a workspace in a container belongs to the user outside
        .union(CapabilitySet::FOWNER) // and so do the files whose mode or time a build sets
        .union(CapabilitySet::FSETID) // `install -m 2755`, folders shared by a group
        .union(CapabilitySet::KILL) // what was started as another user is ended again
        .union(CapabilitySet::SETUID) // a database under test refuses to run as root
        .union(CapabilitySet::SETGID) // `apt-get` and `su` change both
        .union(CapabilitySet::NET_BIND_SERVICE); // a server under development on port 80

    /// Drops the other capabilities of this process and, since they leave the bounding set, of
    /// root's programs as well.
    fn drop_capabilities() -> rustix::io::Result<()> {
        let held = thread::capabilities(None)?;
        let holds_some = !(held.permitted | held.inheritable).is_empty();
        for power in (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit)) {
            if !holds_some || KEPT.contains(power) {
                continue;
            }
            match thread::capability_is_in_bounding_set(power) {
                // This happens in a sandbox within another one.
                Ok(false) => {}
                Ok(true) => match thread::remove_capability_from_bounding_set(power) {
                    // In a container that may not drop it, it stays in the set, but `no_new_privs`
                    // keeps it unused.
                    Ok(()) | Err(Errno::PERM) => {}
                    Err(error) => return Err(error),
                },
                // The kernel does not support more of them.
                Err(Errno::INVAL) => break,
                Err(error) => return Err(error),
            }
        }
        let sets = CapabilitySets {
            effective: held.effective & KEPT,
            permitted: held.permitted & KEPT,
            inheritable: held.inheritable & KEPT,
        };
        thread::set_capabilities(None, sets)
    }
}

/// Other systems have no such restrictions.
#[cfg(not(linux_kernel))]
pub(crate) fn support() -> KernelSupport {
    KernelSupport::default()
}

/// Other systems have no such restrictions.
///
/// # Errors
/// Always.
#[cfg(all(unix, not(linux_kernel)))]
pub(crate) fn confine(_: &[PathBuf], _: bool) -> std::io::Result<()> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, REQUIREMENT))
}
