"""Running programs, and commits that differ from the work tree in one function."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "target/bench/reach"


def run(*words, cwd=None, check=True, env=None, given=None):
    done = subprocess.run(words, cwd=cwd, env=env, input=given, capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr or done.stdout}")
    return done


def git(folder, *words, **more):
    return run("git", "-c", "user.name=bench", "-c", "user.email=bench@invalid", *words, cwd=folder, **more).stdout.strip()


def commit_with(folder, file, text):
    """A commit whose tree is HEAD's with `text` in `file`; the work tree is unchanged."""
    blob = git(folder, "hash-object", "-w", "--stdin", given=text)
    env = {**os.environ, "GIT_INDEX_FILE": str(folder / ".git/index-of-edit")}
    git(folder, "read-tree", "HEAD", env=env)
    git(folder, "update-index", "--cacheinfo", f"100644,{blob},{file}", env=env)
    return git(folder, "commit-tree", git(folder, "write-tree", env=env), "-p", "HEAD", "-m", "before")
