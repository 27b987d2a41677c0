//! The limit on the files that this process may have open at a time.

/// Raises the limit to `wanted`, as far as the system permits it, and returns the present one.
#[cfg(unix)]
pub(crate) fn raise_limit(wanted: u64) -> u64 {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limits = getrlimit(Resource::Nofile);
    let possible = limits.maximum.map_or(wanted, |most| most.min(wanted));
    if limits.current.is_some_and(|current| current < possible) {
        limits.current = Some(possible);
        if let Err(error) = setrlimit(Resource::Nofile, limits) {
            tracing::debug!("no more files can be open at a time: {error}");
        }
    }
    getrlimit(Resource::Nofile).current.unwrap_or(wanted)
}

/// Windows has no limit that a process reaches.
#[cfg(windows)]
pub(crate) fn raise_limit(wanted: u64) -> u64 {
    wanted
}
