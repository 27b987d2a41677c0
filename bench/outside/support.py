"""Shared code of the suites: third-party test sources, the program under test, and the page of results."""

import datetime
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = ROOT / "target/bench/outside"
PAGE = ROOT / "bench/results/outside.md"


def load_parity():
    """The module of `just parity`, which parses the servers' command lines."""
    spec = importlib.util.spec_from_file_location("parity", ROOT / "bench/parity/main.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.KEPT.mkdir(parents=True, exist_ok=True)
    return module


parity = load_parity()
PROGRAM, run, ours = parity.PROGRAM, parity.run, parity.ours


def version():
    return run([PROGRAM, "--version"], ROOT, check=True).stdout.split()[-1]


def git(folder, *words):
    return run(["git", f"--git-dir={folder}", *words], KEPT, check=True).stdout.strip()


def source(repository, given, paths):
    """The files below `paths` of a GitHub repository, and the commit.

    `given` is a clone, with or without a work tree, or a plain folder; by default, the repository is cloned. Its files are not stored here.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    folder = KEPT / repository.replace("/", "+")
    if not given:
        given = KEPT / (folder.name + ".git")
        if not given.is_dir():
            address = f"https://github.com/{repository}.git"
            run(["git", "clone", "--quiet", "--bare", "--depth=1", address, given], KEPT, check=True)
    given = pathlib.Path(given).resolve()
    bare = given / ".git" if (given / ".git").is_dir() else given
    if not (bare / "HEAD").is_file():
        if not given.is_dir():
            sys.exit(f"{given} is not a folder; name a clone of {repository}, or a copy of its files")
        return given, "a copy without history"
    commit = git(bare, "rev-parse", "HEAD")
    mark = folder / ".commit"
    if not mark.is_file() or mark.read_text() != f"{commit} {paths}":
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        write_out(bare, commit, paths, folder)
        mark.write_text(f"{commit} {paths}")
    return folder, commit[:12]


def write_out(bare, commit, paths, folder):
    """Writes the files of a commit. Reports files that the copy of the repository lacks, such as large ones."""
    listed = run(["git", f"--git-dir={bare}", "ls-tree", "-r", "-z", commit, "--", *paths], KEPT, check=True).stdout
    missing = []
    with subprocess.Popen(["git", f"--git-dir={bare}", "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as contents:
        for entry in filter(None, listed.split("\0")):
            about, name = entry.split("\t")
            mode, kind, digest = about.split()
            if kind != "blob":
                continue
            contents.stdin.write(digest.encode() + b"\n")
            contents.stdin.flush()
            head = contents.stdout.readline().split()
            if head[-1] == b"missing":
                missing.append(name)
                continue
            data = contents.stdout.read(int(head[2]) + 1)[:-1]
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if mode == "120000":
                path.symlink_to(os.fsdecode(data))
                continue
            path.write_bytes(data)
            path.chmod(0o755 if mode == "100755" else 0o644)
        contents.stdin.close()
    if missing:
        print(f"the copy of the repository lacks {len(missing)} files: {', '.join(missing[:10])}", flush=True)


def tree(folder):
    """Every file below `folder` with its bytes, and every folder with None."""
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {name: None if path.is_dir() else path.read_bytes() for name, path in paths.items()}


def table(head, rows):
    """A Markdown table."""
    cell = lambda text: str(text).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines)


def record(title, text):
    """Writes the section `title` of the page and keeps the others."""
    sections = {}
    if PAGE.exists():
        for part in PAGE.read_text().split("\n## ")[1:]:
            name, _, body = part.partition("\n")
            sections[name] = body.strip()
    sections[title] = f"{datetime.date.today()}, lsp-tools {version()}. {text.strip()}"
    order = sorted(sections, key=lambda name: TITLES.index(name) if name in TITLES else len(TITLES))
    head = "# Tests of others\n\n`just outside SUITE` runs a suite and rewrites its section. Others' test data is fetched, and not stored here.\n"
    PAGE.write_text(head + "".join(f"\n## {name}\n\n{sections[name]}\n" for name in order))


TITLES = ["Patches: Codex's apply_patch scenarios", "Reports: SARIF, JUnit and GitLab", "Findings: Python's typing conformance tests",
          "Renames and moves: RefactorBench"]
PATCHES, REPORTS, FINDINGS, REFACTORINGS = TITLES
