//! The packages of `check_parity` from PyPI and npm: fetched once, unpacked for each run, never
//! committed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::archives::{self, run};

/// Dependencies of the Python packages. Two are left out, so that some imports fail.
const INSTALLED: [&str; 5] =
    ["werkzeug==3.0.4", "jinja2==3.1.4", "click==8.1.7", "urllib3==2.2.3", "idna==3.10"];

const CMAKE: &str = "cmake_minimum_required(VERSION 3.20)\nproject(lz4 C)\nfile(GLOB sources lz4libs/*.c)\n\
                     add_library(lz4 ${sources})\ntarget_compile_options(lz4 PRIVATE -Weverything -Werror)\n";

/// A Python environment with some dependencies: the `python3` that every server and command line
/// finds first.
pub fn environment(kept: &Path) -> Result<PathBuf> {
    let folder = kept.join("python");
    if !folder.join("made").is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        run(Command::new(folder.join("bin/pip")).args(["install", "-q"]).args(INSTALLED))?;
        fs::write(folder.join("made"), "")?;
    }
    Ok(folder)
}

/// Unpacks `package` (`name==version` from PyPI, `name@version` from npm) into `project`.
pub fn make(kept: &Path, package: &str, project: &Path) -> Result<()> {
    let is_c = package.starts_with("lz4");
    archives::unpack(&archives::fetched(&kept.join("archives"), package, true)?, project)?;
    if is_c {
        // Only the C library is kept, not its Python binding.
        for entry in fs::read_dir(project)? {
            let path = entry?.path();
            if path.file_name().is_none_or(|name| name != "lz4libs") {
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }?;
            }
        }
        fs::write(project.join("CMakeLists.txt"), CMAKE)?;
        build(kept, project)?;
    } else if package.starts_with("bats") {
        fs::write(project.join(".shellcheckrc"), "enable=all\nexternal-sources=true\n")?;
    } else if package.contains('@') {
        archives::default_tsconfig(project)?;
    }
    Ok(())
}

/// Writes `compile_commands.json` with CMake from PyPI.
fn build(kept: &Path, project: &Path) -> Result<()> {
    let folder = kept.join("cmake");
    let program = folder.join("bin/cmake");
    if !program.is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        run(Command::new(folder.join("bin/pip")).args(["install", "-q", "cmake==3.31.6"]))?;
    }
    let words = ["-S", ".", "-B", "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"];
    run(Command::new(program).args(words).current_dir(project))
}

/// Removes the first single-line import from every fifth file.
pub fn take_out_imports(project: &Path, endings: &[&str]) -> Result<()> {
    for file in super::lines::files(project, endings)?.iter().step_by(5) {
        let path = project.join(file);
        let text = fs::read_to_string(&path)?;
        let is_import = |line: &&str| {
            (line.starts_with("import ") || line.starts_with("from ") || line.starts_with("#include"))
                && !line.ends_with('(')
                && !line.ends_with('{')
        };
        if let Some(line) = text.lines().find(is_import) {
            fs::write(&path, text.replacen(line, "", 1))?;
        }
    }
    Ok(())
}
