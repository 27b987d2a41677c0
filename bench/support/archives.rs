//! Archives of packages from PyPI and npm, fetched once and unpacked for each run; none is
//! committed.
//!
//! For benches, through `#[path]`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Runs a command that is expected to succeed.
pub fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The archive of `package` (`name==version` from PyPI, `name@version` from npm), cached in `kept`.
pub fn fetched(kept: &Path, package: &str, from_source: bool) -> Result<PathBuf> {
    let folder = kept.join(package);
    let found = || {
        let entries = fs::read_dir(&folder).ok()?;
        let mut files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        files
            .find(|path| path.extension().is_some_and(|is| ["whl", "gz", "tgz"].iter().any(|end| is == *end)))
    };
    if found().is_none() {
        fs::create_dir_all(&folder)?;
        if package.contains("==") {
            let kind = if from_source { "--no-binary" } else { "--only-binary" };
            let words = ["-m", "pip", "download", "-q", "--no-deps", kind, ":all:", package, "-d"];
            run(Command::new("python3").args(words).arg(&folder))?;
        } else {
            run(Command::new("npm").args(["pack", "--silent", package]).current_dir(&folder))?;
        }
    }
    found().with_context(|| format!("nothing was fetched for {package}"))
}

/// Unpacks `archive` into `project` without the package's metadata.
pub fn unpack(archive: &Path, project: &Path) -> Result<()> {
    fs::create_dir_all(project)?;
    if archive.extension().is_some_and(|is| is == "whl") {
        run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(archive).arg(project))?;
    } else {
        run(Command::new("tar")
            .args(["--no-same-owner", "--strip-components=1", "-xf"])
            .arg(archive)
            .arg("-C")
            .arg(project))?;
    }
    for entry in fs::read_dir(project)? {
        let path = entry?.path();
        if path.extension().is_some_and(|is| is == "dist-info") {
            fs::remove_dir_all(path)?;
        }
    }
    Ok(())
}

/// Writes TypeScript's settings if a package has none.
#[allow(dead_code, reason = "a bench of Python alone has no use for it")]
pub fn default_tsconfig(project: &Path) -> Result<()> {
    const TSCONFIG: &str = r#"{"compilerOptions": {"target": "es2020", "module": "esnext", "moduleResolution": "bundler", "strict": true,
  "noEmit": true, "noUnusedLocals": true, "noImplicitReturns": true}, "include": ["src"]}"#;
    let path = project.join("tsconfig.json");
    if !path.exists() {
        fs::write(path, TSCONFIG)?;
    }
    Ok(())
}
