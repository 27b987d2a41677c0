//! The lease by which one host at a time edits a workspace that several hosts mount. It lies in the workspace itself, since
//! that is all that such hosts have in common. Locks of the user's state folder keep apart what runs on one host; this keeps
//! apart hosts.
//!
//! The lease is the file with the highest number in [`FOLDER`]. Whoever makes the next number has it: of several who try, the file
//! system lets one make it, and a number is never used twice, so that a late one cannot take away what was newly taken. Its holder
//! touches it again and again while edits go on; one that was not touched for as long as the settings say is over, and so is one
//! that was given back, whose time is then set to nothing.
//!
//! All times are those that the file system writes into files. Clocks of hosts differ, and nothing here asks one.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::EditError;
use crate::workspace::Workspace;

/// Where leases lie, in the root of the workspace.
pub(super) const FOLDER: &str = ".lsp-tools-lease";
/// So long after its last edit a holder gives the lease back by itself.
const LEASE_IDLE_TIMEOUT: Duration = Duration::from_secs(300);
/// So often the next number is tried when others are quicker.
const MAX_LEASE_ACQUIRE_ATTEMPTS: usize = 16;
/// The most that is read of a lease, in bytes.
const MAX_LEASE_FILE_BYTES: u64 = 4 << 10;

static KEEPERS: AtomicU64 = AtomicU64::new(1);

/// Which workspaces are leased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LeaseMode {
    /// Those on file systems that several hosts can mount.
    #[default]
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

/// How a workspace is leased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeaseOptions {
    /// Whether it is.
    pub(crate) leasing: LeaseMode,
    /// How long a lease holds that is not touched any more.
    pub(crate) stale: Duration,
    /// Who we are.
    pub(crate) host: LeaseHost,
}

/// One of the hosts that edit a workspace. What runs on one host shares a lease: it has other locks to keep apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeaseHost {
    /// For people.
    pub(crate) name: String,
    /// Tells it from every other.
    pub(crate) mark: String,
}

impl LeaseOptions {
    /// No workspace is leased.
    pub(crate) fn disabled() -> Self {
        let host = LeaseHost { name: String::new(), mark: String::new() };
        Self { leasing: LeaseMode::Never, stale: Duration::ZERO, host }
    }
}

impl LeaseHost {
    /// This one: called `LSP_TOOLS_HOST` where that is set, which also says that whatever has the same name there is the same host.
    /// Otherwise the name of the machine, told apart by its last start and, for containers, by their processes' namespace.
    pub(crate) fn current() -> Self {
        if let Some(name) = std::env::var("LSP_TOOLS_HOST").ok().filter(|name| !name.is_empty()) {
            return Self { mark: format!("named {name}"), name };
        }
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let name = read("/proc/sys/kernel/hostname");
        let boot = read("/proc/sys/kernel/random/boot_id");
        let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Self { mark: format!("{name} {boot} {}", space.display()), name }
    }
}

/// What a lease says of its holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LeaseHolder {
    host: String,
    mark: String,
    pid: u32,
    /// Which runtime of that process looks after it.
    keeper: u64,
    /// When it was taken, in seconds since 1970, by the clock of the file system.
    since: i64,
}

/// The lease of one workspace, as this process has it or not.
#[derive(Debug)]
pub(super) struct Lease(Option<Arc<LeaseInner>>);

#[derive(Debug)]
struct LeaseInner {
    workspace: Workspace,
    options: LeaseOptions,
    /// Tells us from other runtimes of this process.
    keeper: u64,
    held: Mutex<LeaseState>,
    /// Rung when the keeper is to look at once.
    wake_keeper: Condvar,
}

#[derive(Debug, Default)]
struct LeaseState {
    /// The number that we have.
    number: Option<u64>,
    /// When we last edited, by our own clock: how long ago that is.
    edited: Option<Instant>,
    keeper: Option<JoinHandle<()>>,
    ended: bool,
}

impl Lease {
    /// For `workspace`; nothing is taken yet.
    pub(super) fn new(workspace: Workspace, options: LeaseOptions) -> Self {
        let wanted = match options.leasing {
            LeaseMode::Always => true,
            LeaseMode::Never => false,
            LeaseMode::Auto => is_shared(&workspace),
        };
        let keeper = KEEPERS.fetch_add(1, Ordering::Relaxed);
        let shared =
            || LeaseInner { workspace, options, keeper, held: Mutex::default(), wake_keeper: Condvar::new() };
        Self(wanted.then(|| Arc::new(shared())))
    }

    /// Takes the lease for an edit that begins now, or sees that this host still has it. Whoever calls this holds the lock of the
    /// state folder.
    ///
    /// # Errors
    /// [`EditError::Leased`] where another host has it.
    pub(super) fn acquire(&self) -> Result<(), EditError> {
        let Some(shared) = &self.0 else { return Ok(()) };
        // Held all the while, so that the keeper does not give back what is being taken.
        let mut held = shared.held.lock();
        let folder = shared.folder().map_err(|error| lease_error(&error))?;
        held.number = Some(shared.acquire(&folder)?);
        held.edited = Some(Instant::now());
        if held.keeper.is_none() {
            let kept = shared.clone();
            let keeper = std::thread::Builder::new().name("workspace-lease".to_owned());
            // Without one, the lease lasts for as long as the settings say, and the next edit takes it anew.
            held.keeper = keeper.spawn(move || kept.run_keeper()).ok();
        }
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(shared) = &self.0 else { return };
        let mut held = shared.held.lock();
        held.ended = true;
        let keeper = held.keeper.take();
        drop(held);
        shared.wake_keeper.notify_all();
        match keeper {
            // It gives the lease back. One that panicked has been logged.
            Some(keeper) => drop(keeper.join()),
            None => shared.release(&mut shared.held.lock()),
        }
    }
}

impl LeaseInner {
    /// The folder of leases, made where it is not there. Never through a link, which could lead out of the workspace.
    fn folder(&self) -> io::Result<LeaseFolder> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let root = rustix::fs::open(self.workspace.root(), flags, Mode::empty())?;
        match rustix::fs::mkdirat(&root, FOLDER, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        let folder = LeaseFolder(File::from(rustix::fs::openat(
            &root,
            FOLDER,
            flags | OFlags::NOFOLLOW,
            Mode::empty(),
        )?));
        // It is nobody's work, and no commit shall have it.
        match folder.create(".gitignore") {
            Ok(mut file) => file.write_all(b"*\n")?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Ok(folder)
    }

    /// The number that this host has, taken where nobody else has one.
    fn acquire(&self, folder: &LeaseFolder) -> Result<u64, EditError> {
        for _ in 0..MAX_LEASE_ACQUIRE_ATTEMPTS {
            let highest = folder.highest().map_err(|error| lease_error(&error))?;
            let next = match highest {
                None => 1,
                Some(number) => match self.inspect(folder, number).map_err(|error| lease_error(&error))? {
                    LeaseOwnership::Ours => return Ok(number),
                    LeaseOwnership::Theirs(error) => return Err(error),
                    LeaseOwnership::Over => number + 1,
                    LeaseOwnership::Gone => continue,
                },
            };
            if self.create_lease(folder, next).map_err(|error| lease_error(&error))? {
                return Ok(next);
            }
        }
        Err(lease_error(&io::Error::other("other hosts take it again and again")))
    }

    /// What the lease `number` means to us.
    fn inspect(&self, folder: &LeaseFolder, number: u64) -> io::Result<LeaseOwnership> {
        // Opened anew each time: that is when network file systems look again at what others have written.
        let mut file = match folder.open(number) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LeaseOwnership::Gone),
            Err(error) => return Err(error),
        };
        let touched = mtime_seconds(&file)?;
        let mut text = String::new();
        (&mut file).take(MAX_LEASE_FILE_BYTES).read_to_string(&mut text)?;
        let holder = serde_json::from_str::<LeaseHolder>(&text).ok();
        if let Some(holder) = holder.as_ref().filter(|holder| holder.mark == self.options.host.mark) {
            // Whoever of this host has edited last looks after it.
            let own = LeaseHolder { pid: std::process::id(), keeper: self.keeper, ..holder.clone() };
            if own != *holder {
                folder.write(number, &own)?;
            }
            folder.touch(number)?;
            return Ok(LeaseOwnership::Ours);
        }
        let now = folder.file_system_time()?;
        let stale = i64::try_from(self.options.stale.as_secs()).unwrap_or(i64::MAX);
        if now.saturating_sub(touched) > stale {
            return Ok(LeaseOwnership::Over);
        }
        let frees_s = stale.saturating_sub(now.saturating_sub(touched)).max(0) + 1;
        let unknown = LeaseHolder {
            host: "another host".to_owned(),
            mark: String::new(),
            pid: 0,
            keeper: 0,
            since: touched,
        };
        let LeaseHolder { host, pid, since, .. } = holder.unwrap_or(unknown);
        Ok(LeaseOwnership::Theirs(EditError::Leased {
            host,
            pid,
            for_s: now.saturating_sub(since).max(0),
            frees_s,
        }))
    }

    /// Makes the lease `number` ours; false where somebody was quicker.
    fn create_lease(&self, folder: &LeaseFolder, number: u64) -> io::Result<bool> {
        let file = match folder.create(&number.to_string()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(error),
        };
        let LeaseHost { name, mark } = self.options.host.clone();
        let (pid, since) = (std::process::id(), mtime_seconds(&file)?);
        let written =
            folder.write(number, &LeaseHolder { host: name, mark, pid, keeper: self.keeper, since });
        match written {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            written => written?,
        }
        // Who looked before others came may have made a number that is past.
        if folder.highest()? != Some(number) {
            folder.remove(number);
            return Ok(false);
        }
        folder.numbers()?.into_iter().filter(|old| *old < number).for_each(|old| folder.remove(old));
        Ok(true)
    }

    /// Touches the lease until it is given back or lost, or the process ends.
    fn run_keeper(&self) {
        let pause = self.options.stale / 4;
        let mut held = self.held.lock();
        loop {
            // Not for a bell that was rung before this was reached.
            self.wake_keeper.wait_while_for(&mut held, |held| !held.ended, pause);
            let rests = held.edited.is_none_or(|edited| edited.elapsed() >= LEASE_IDLE_TIMEOUT);
            if held.ended || rests {
                held.keeper = None;
                return self.release(&mut held);
            }
            // Whoever has lost it finds out at the next edit, and may take it anew then.
            if let Some(number) = held.number
                && let Err(error) = self.folder().and_then(|folder| match self.is_ours(&folder, number)? {
                    true => folder.touch(number),
                    false => Ok(()),
                })
            {
                tracing::warn!("the lease of the workspace cannot be kept: {error}");
            }
        }
    }

    fn is_ours(&self, folder: &LeaseFolder, number: u64) -> io::Result<bool> {
        let mut text = String::new();
        folder.open(number)?.take(MAX_LEASE_FILE_BYTES).read_to_string(&mut text)?;
        let own = |holder: LeaseHolder| {
            (holder.mark.as_str(), holder.pid, holder.keeper)
                == (self.options.host.mark.as_str(), std::process::id(), self.keeper)
        };
        Ok(folder.highest()? == Some(number) && serde_json::from_str(&text).is_ok_and(own))
    }

    /// From now on anybody may take it.
    fn release(&self, held: &mut LeaseState) {
        let Some(number) = held.number.take() else { return };
        let given = self.folder().and_then(|folder| match self.is_ours(&folder, number)? {
            true => folder.mark_expired(number),
            false => Ok(()),
        });
        if let Err(error) = given {
            tracing::debug!("the lease of the workspace was not given back: {error}");
        }
    }
}

/// What a lease means to us.
enum LeaseOwnership {
    Ours,
    Theirs(EditError),
    Over,
    /// It was removed since the folder was listed.
    Gone,
}

/// The open folder of leases.
struct LeaseFolder(File);

impl LeaseFolder {
    fn numbers(&self) -> io::Result<Vec<u64>> {
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            found.extend(entry?.file_name().to_str().ok().and_then(|name| name.parse::<u64>().ok()));
        }
        Ok(found)
    }

    fn highest(&self) -> io::Result<Option<u64>> {
        Ok(self.numbers()?.into_iter().max())
    }

    fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o666))?))
    }

    fn open(&self, number: u64) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.0, number.to_string(), flags, Mode::empty())?))
    }

    /// Who reads it meanwhile meets a part of it, and takes it for that of somebody unknown.
    fn write(&self, number: u64, holder: &LeaseHolder) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::TRUNC | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.0, number.to_string(), flags, Mode::empty())?);
        // Other hosts see it once it is closed. One that is lost with its host is over like any that is not touched.
        file.write_all(serde_json::to_string(holder)?.as_bytes())
    }

    fn remove(&self, number: u64) {
        // It is past, whether it can be removed or not.
        let _gone = rustix::fs::unlinkat(&self.0, number.to_string(), AtFlags::empty());
    }

    /// Its time is now, by the clock of the file system.
    fn touch(&self, number: u64) -> io::Result<()> {
        self.set_time(number, Timespec { tv_sec: 0, tv_nsec: UTIME_NOW })
    }

    /// Its time is long past.
    fn mark_expired(&self, number: u64) -> io::Result<()> {
        self.set_time(number, Timespec { tv_sec: 0, tv_nsec: 0 })
    }

    fn set_time(&self, number: u64, time: Timespec) -> io::Result<()> {
        let times = Timestamps { last_access: time, last_modification: time };
        rustix::fs::utimensat(&self.0, number.to_string(), &times, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(())
    }

    /// What time it is for the file system: that of a file which is made for it.
    fn file_system_time(&self) -> io::Result<i64> {
        let name = format!("now-{}-{:?}", std::process::id(), std::thread::current().id());
        // One that was left by a process that died has a time that is past.
        let _gone = rustix::fs::unlinkat(&self.0, &name, AtFlags::empty());
        let now = self.create(&name).and_then(|file| mtime_seconds(&file));
        let _gone = rustix::fs::unlinkat(&self.0, &name, AtFlags::empty());
        now
    }
}

fn mtime_seconds(file: &File) -> io::Result<i64> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.mtime())
}

/// Whether other hosts may have the workspace mounted, as far as the kind of its file system tells (statfs(2)).
fn is_shared(workspace: &Workspace) -> bool {
    const SHARED: [u32; 15] = [
        0x0000_6969, // NFS
        0x0000_517b, // SMB
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB 2
        0x00c3_6400, // Ceph
        0x0bd0_0bd0, // Lustre
        0x0116_1970, // GFS2
        0x7461_636f, // OCFS2
        0x4750_4653, // GPFS
        0x1983_0326, // BeeGFS
        0x2003_0528, // OrangeFS
        0x5346_414f, // AFS
        0x6b41_4653, // AFS of the kernel
        0x0102_1997, // 9P
        0x6573_5546, // FUSE: sshfs, s3fs, GlusterFS
    ];
    let kind = rustix::fs::statfs(workspace.root()).map(|found| found.f_type);
    // Types of this field differ; the low 32 bits are what the page lists.
    kind.is_ok_and(|kind| {
        u32::try_from(i128::from(kind) & 0xffff_ffff).is_ok_and(|kind| SHARED.contains(&kind))
    })
}

fn lease_error(error: &io::Error) -> EditError {
    EditError::Lease { reason: error.to_string() }
}

#[cfg(test)]
#[path = "lease_tests.rs"]
mod tests;
