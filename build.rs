//! Packs the locks of `locks/` into one compressed file, which the library has compiled in.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    pack_locks()?;
    link_at_fixed_address();
    Ok(())
}

/// Links the programs for a fixed address. At one that is only known at its start, the loader adjusts each pointer of the tables of
/// grammars, of vtables and of texts, which dirties a megabyte in every process that is started, doors and supervisors among them.
fn link_at_fixed_address() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        println!("cargo::rustc-link-arg-examples=-no-pie");
    }
}

fn pack_locks() -> io::Result<()> {
    println!("cargo::rerun-if-changed=locks");
    let out = std::env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    let mut packed = GzEncoder::new(File::create(Path::new(&out).join("locks.gz"))?, Compression::best());
    let mut files = Vec::new();
    for entry in fs::read_dir("locks")? {
        let folder = entry?.path();
        if folder.is_dir() {
            files.extend(fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?);
        }
    }
    let mut paths: Vec<PathBuf> = files.into_iter().map(|file| file.path()).collect();
    paths.sort();
    // A path and the text there, each ended by NUL, which neither holds.
    for path in paths {
        packed.write_all(path.to_string_lossy().as_bytes())?;
        packed.write_all(b"\0")?;
        packed.write_all(&fs::read(&path)?)?;
        packed.write_all(b"\0")?;
    }
    packed.finish()?.sync_all()
}
