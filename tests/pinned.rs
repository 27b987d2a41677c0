//! Programs that are compared with the trusted ones when they start: they find their files, and a
//! different program does not start. (`attacks` tests a replacement at that very moment.)

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lsp_tools::internals::config::{FilePin, LaunchFields};
use lsp_tools::internals::process::{Exit, FinishedProgram, Spawn, Spawner, run};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::support::{copy_executable, write_executable};

fn pin(project: &Path, program: &Path) -> FilePin {
    let sha256 = LaunchFields::content_of(project, program).expect("a file of the project");
    FilePin { path: program.to_owned(), sha256 }
}

async fn finish(project: &Path, program: &Path, args: &[&str], pins: Vec<FilePin>) -> FinishedProgram {
    let spawn = Spawn {
        name: "test".into(),
        program: program.to_owned(),
        args: args.iter().map(Into::into).collect(),
        env: BTreeMap::new(),
        cwd: project.to_owned(),
        pins,
    };
    let spawner = Spawner::new(Some(env!("CARGO_BIN_EXE_lsp-tools").into()));
    let deadline = Instant::now() + Duration::from_secs(60);
    run(&spawner, spawn, deadline, |_| {}).await.expect("an end in time")
}

fn executable(path: &Path, content: &str) -> PathBuf {
    write_executable(path, content);
    path.to_owned()
}

fn project() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = fs::canonicalize(folder.path()).expect("a path");
    (folder, path)
}

#[tokio::test]
async fn pinned_python_interpreter_finds_its_virtual_environment() {
    let (_folder, project) = project();
    for how in ["--copies", "--symlinks"] {
        let environment = project.join(how);
        let made =
            Command::new("python3").args(["-m", "venv", "--without-pip", how]).arg(&environment).status();
        assert!(made.is_ok_and(|status| status.success()), "python3 -m venv");
        let python = environment.join("bin/python");
        let say = ["-c", "import sys; print(sys.prefix, sys.executable)"];
        let finished = finish(&project, &python, &say, vec![pin(&project, &python)]).await;
        let expected = format!("{} {}", environment.display(), python.display());
        assert_eq!((finished.exit, finished.tail), (Exit::Code(0), vec![expected]), "{how}");
    }
}

#[tokio::test]
async fn pinned_script_finds_files_beside_it() {
    let (_folder, project) = project();
    fs::write(project.join("beside"), "echo beside\n").expect("a file");
    let script =
        executable(&project.join("script"), "#!/bin/sh\n. \"$(dirname \"$0\")/beside\"\necho \"$0\"\n");
    let finished = finish(&project, &script, &[], vec![pin(&project, &script)]).await;
    assert_eq!(finished.tail, ["beside".to_owned(), script.display().to_string()]);
}

#[tokio::test]
async fn pinned_program_changed_before_start_does_not_run() {
    let (_folder, project) = project();
    let binary = project.join("binary");
    copy_executable(which::which("true").expect("true"), &binary);
    let script = executable(&project.join("script"), "#!/bin/sh\n");
    let named = executable(&project.join("named"), "exit 0\n");
    let sh = PathBuf::from("/bin/sh");
    for (program, args, changed) in
        [(&binary, vec![], &binary), (&script, vec![], &script), (&sh, vec!["named"], &named)]
    {
        let pins = vec![pin(&project, changed)];
        let as_it_was = finish(&project, program, &args, pins.clone()).await;
        assert_eq!(as_it_was.exit, Exit::Code(0), "{as_it_was:?}");
        let mark = project.join("mark");
        fs::remove_file(changed).expect("a file");
        executable(changed, &format!("#!/bin/sh\ntouch '{}'\n", mark.display()));
        let finished = finish(&project, program, &args, pins).await;
        assert_eq!(finished.exit, Exit::Code(127));
        let said = format!(
            "`{}` changed after it was trusted and was not run; review it, then run: lsp-tools trust",
            changed.display()
        );
        assert_eq!((finished.tail, mark.exists()), (vec![said], false));
    }
}

/// Writes one byte through a mapping, and another one on request: the second leaves the file's
/// times unchanged.
const THROUGH_A_MAPPING: &str = "
import mmap, sys
with open(sys.argv[1], 'r+b') as file:
    mapping = mmap.mmap(file.fileno(), 0)
    mapping[64] = 1
    print('dirty', flush=True)
    sys.stdin.readline()
    mapping[65] = 1
    print('written', flush=True)
    sys.stdin.readline()
";

#[test]
fn pinned_program_written_through_mmap_is_detected() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let (_folder, project) = project();
    let program = project.join("program");
    copy_executable(which::which("true").expect("true"), &program);
    let mut python = Command::new("python3");
    python.args(["-c", THROUGH_A_MAPPING]).arg(&program).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.spawn().expect("python3");
    let mut said = BufReader::new(python.stdout.take().expect("its output")).lines();
    let mut told = python.stdin.take().expect("its input");
    assert_eq!(said.next().expect("a line").expect("a line"), "dirty");
    let held = pin(&project, &program).open().expect("it is as it was trusted");
    held.check().expect("it still is");
    told.write_all(b"\n").expect("a line");
    assert_eq!(said.next().expect("a line").expect("a line"), "written");
    assert!(held.check().is_err(), "another content");
    drop(told);
    python.wait().expect("its end");
}
