//! Packs the lock files of `locks/` into one compressed file to embed, and sets platform and linker
//! options.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    pack_locks()?;
    choose_platform();
    link_unoptimised_at_fixed_address();
    Ok(())
}

/// Sets `linux_kernel`, which enables Linux features in `platform/`, and `supervised`, where programs
/// that we start have a supervisor process. `LSP_TOOLS_PORTABLE` leaves the former out, so that tests
/// on Linux can cover the behaviour on other Unix systems.
fn choose_platform() {
    println!("cargo::rustc-check-cfg=cfg(linux_kernel)");
    println!("cargo::rustc-check-cfg=cfg(supervised)");
    println!("cargo::rerun-if-env-changed=LSP_TOOLS_PORTABLE");
    if std::env::var_os("CARGO_CFG_UNIX").is_some() {
        println!("cargo::rustc-cfg=supervised");
    }
    let is_linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    if is_linux && std::env::var_os("LSP_TOOLS_PORTABLE").is_none() {
        println!("cargo::rustc-cfg=linux_kernel");
    }
}

/// Links unoptimised programs, which tests start thousands of times, at a fixed address. That saves
/// the loader the relocation of grammar tables, vtables and strings. Released programs keep address
/// randomisation, because they parse untrusted input with parsers in C.
fn link_unoptimised_at_fixed_address() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
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
    // Each path and its text, both terminated by NUL, which neither contains.
    for path in paths {
        packed.write_all(path.to_string_lossy().as_bytes())?;
        packed.write_all(b"\0")?;
        packed.write_all(&fs::read(&path)?)?;
        packed.write_all(b"\0")?;
    }
    packed.finish()?.sync_all()
}
