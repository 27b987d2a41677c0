use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const TEST_LEASE_TTL: Duration = Duration::from_secs(60);

struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn lease(&self, host: &str, stale: Duration) -> Lease {
        let host = LeaseHost { name: host.to_owned(), mark: host.to_owned() };
        let options = LeaseOptions { leasing: LeaseMode::Always, stale, host };
        Lease::new(Workspace::open(self.folder.path()).unwrap(), options)
    }

    fn of(&self, host: &str) -> Lease {
        self.lease(host, TEST_LEASE_TTL)
    }

    fn leases(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path().join(FOLDER)).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path());
        files.filter(|path| path.file_name().is_some_and(|name| name != ".gitignore")).collect()
    }

    /// The lease, as if nobody had touched it for so long.
    fn age(&self, by: Duration) {
        let leases = self.leases();
        assert_eq!(leases.len(), 1, "{leases:?}");
        let file = File::options().write(true).open(&leases[0]).unwrap();
        let time = file.metadata().unwrap().modified().unwrap() - by;
        file.set_modified(time).unwrap();
    }
}

#[track_caller]
fn holder(taken: Result<(), EditError>) -> String {
    match taken {
        Err(EditError::Leased { host, pid, for_s, frees_s }) => {
            assert_eq!(pid, std::process::id());
            assert!((0..10).contains(&for_s) && (1..=61).contains(&frees_s), "{for_s} {frees_s}");
            host
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn lease_excludes_other_hosts_until_dropped() {
    let ground = Ground::new();
    let (alpha, beta) = (ground.of("alpha"), ground.of("beta"));
    assert!(ground.leases().is_empty(), "nothing is taken before there is something to edit");
    alpha.acquire().unwrap();
    assert_eq!(holder(beta.acquire()), "alpha");
    alpha.acquire().unwrap();
    // What else runs on the host has it too.
    let second = ground.of("alpha");
    second.acquire().unwrap();
    // Not its end but that of whoever edited last gives it back.
    drop(alpha);
    assert_eq!(holder(beta.acquire()), "alpha");
    drop(second);
    beta.acquire().unwrap();
    assert_eq!(ground.leases().len(), 1);
}

#[test]
fn lease_taken_and_dropped_repeatedly_does_not_wait() {
    let ground = Ground::new();
    let begun = Instant::now();
    for _ in 0..20 {
        ground.of("alpha").acquire().unwrap();
    }
    assert!(begun.elapsed() < TEST_LEASE_TTL / 4, "{:?}", begun.elapsed());
}

#[test]
fn stale_lease_expires_by_file_system_clock() {
    let ground = Ground::new();
    let (alpha, beta, gamma) = (ground.of("alpha"), ground.of("beta"), ground.of("gamma"));
    alpha.acquire().unwrap();
    ground.age(TEST_LEASE_TTL - Duration::from_secs(5));
    assert_eq!(holder(beta.acquire()), "alpha");
    ground.age(Duration::from_secs(10));
    beta.acquire().unwrap();
    // Who has lost it finds out, and cannot give back what is not its own any more.
    assert_eq!(holder(alpha.acquire()), "beta");
    drop(alpha);
    assert_eq!(holder(gamma.acquire()), "beta");
}

#[test]
fn lease_is_renewed_while_held() {
    let ground = Ground::new();
    let alpha = ground.lease("alpha", Duration::from_secs(2));
    let beta = ground.lease("beta", Duration::from_secs(2));
    alpha.acquire().unwrap();
    let end = Instant::now() + Duration::from_secs(5);
    while Instant::now() < end {
        assert!(matches!(beta.acquire(), Err(EditError::Leased { .. })));
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn lease_is_held_by_one_of_many_concurrent_hosts() {
    let ground = Ground::new();
    let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (ground, inside, taken) = (&ground, &inside, &taken);
            scope.spawn(move || {
                for round in 0..40 {
                    let lease = ground.of(&format!("host-{number}-{round}"));
                    match lease.acquire() {
                        Ok(()) => {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two have it");
                            taken.fetch_add(1, Ordering::SeqCst);
                            std::thread::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                        }
                        Err(EditError::Leased { .. } | EditError::Lease { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    assert!(taken.into_inner() > 4);
    ground.of("last").acquire().unwrap();
}

#[test]
fn lease_with_garbage_counts_as_held_and_symlink_is_refused() {
    let ground = Ground::new();
    let alpha = ground.of("alpha");
    std::fs::create_dir(ground.folder.path().join(FOLDER)).unwrap();
    std::fs::write(ground.folder.path().join(FOLDER).join("7"), "{\"host\":").unwrap();
    match alpha.acquire() {
        Err(EditError::Leased { host, .. }) => assert_eq!(host, "another host"),
        other => panic!("{other:?}"),
    }
    ground.age(2 * TEST_LEASE_TTL);
    alpha.acquire().unwrap();
    assert!(ground.leases()[0].ends_with("8"), "{:?}", ground.leases());

    let (linked, elsewhere) = (Ground::new(), Ground::new());
    symlink(elsewhere.folder.path(), linked.folder.path().join(FOLDER)).unwrap();
    assert!(matches!(linked.of("alpha").acquire(), Err(EditError::Lease { .. })));
    assert_eq!(std::fs::read_dir(elsewhere.folder.path()).unwrap().count(), 0);
}

#[test]
fn lease_on_local_file_system_writes_no_file() {
    let ground = Ground::new();
    let host = LeaseHost::current();
    assert!(!host.mark.is_empty());
    for leasing in [LeaseMode::Auto, LeaseMode::Never] {
        let options = LeaseOptions { leasing, stale: TEST_LEASE_TTL, host: host.clone() };
        let lease = Lease::new(Workspace::open(ground.folder.path()).unwrap(), options);
        lease.acquire().unwrap();
        assert!(!ground.folder.path().join(FOLDER).exists());
    }
}
