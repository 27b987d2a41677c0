//! Packs the locks of `locks/` into one compressed file, which the library has compiled in.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
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
