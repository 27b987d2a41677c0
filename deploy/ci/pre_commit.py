"""Tries .pre-commit-hooks.yaml with the real pre-commit and the real pyright, in a separate repository (just pre-commit-check).

Both are installed below target/ on the first run. The user's settings are not used, and no process is left running.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = TARGET / "debug/lsp-tools"
TOOLS = TARGET / "pre-commit"
PRE_COMMIT = "pre-commit==4.4.0"
CLEAN = "def greet(name: str) -> str:\n    return name\n"
CALLER = "from greet import greet\n\nprint(greet('you'))\n"
# The same file with another type, which breaks its caller.
CHANGED = "def greet(name: int) -> str:\n    return str(name)\n"
WRONG = "count: int = 'one'\n"


def run(words, folder, environment, expected):
    """Runs a command and returns its output; `expected` tells whether it must succeed."""
    done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if (done.returncode == 0) != expected:
        sys.exit(f"pre-commit-check: {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def claim(holds, what, output):
    if not holds:
        sys.exit(f"pre-commit-check: {what}:\n{output}")


def environment_in(home):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "LSP_TOOLS_", "PRE_COMMIT", "VIRTUAL_ENV"))}
    folders = {f"LSP_TOOLS_{name}_DIR": str(home / name.lower()) for name in ["CONFIG", "STATE", "CACHE"]}
    program = {"PATH": f"{PROGRAM.parent}{os.pathsep}{kept['PATH']}", "LSP_TOOLS_NO_DAEMON": "1"}
    servers = {"LSP_TOOLS_DATA_DIR": str(TOOLS / "servers")}
    author = {f"GIT_{who}_{what}": value for who in ["AUTHOR", "COMMITTER"] for what, value in [("NAME", "t"), ("EMAIL", "t@t")]}
    git = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    return kept | folders | program | servers | author | git | {"HOME": str(home), "PRE_COMMIT_HOME": str(home / "pre-commit")}


def hooks_repository(folder, environment):
    """A repository with only our hooks, as pre-commit clones it; its commit."""
    folder.mkdir()
    (folder / ".pre-commit-hooks.yaml").write_bytes((ROOT / ".pre-commit-hooks.yaml").read_bytes())
    for words in [["init", "-q"], ["add", "."], ["commit", "-qm", "hooks"]]:
        run(["git", *words], folder, environment, True)
    return run(["git", "rev-parse", "HEAD"], folder, environment, True).strip()


def main():
    bin_folder = TOOLS / "venv/bin"
    if not (bin_folder / "pre-commit").exists():
        subprocess.run([sys.executable, "-m", "venv", TOOLS / "venv"], check=True)
        subprocess.run([bin_folder / "pip", "install", "-q", "--disable-pip-version-check", PRE_COMMIT], check=True)
    with tempfile.TemporaryDirectory(prefix="lsp-tools-pre-commit-") as place:
        home = Path(place, "home/of/nobody")
        home.mkdir(parents=True)
        environment = environment_in(home)
        run([PROGRAM, "install", "pyright"], home, environment, True)
        hooks = home / "hooks"
        revision = hooks_repository(hooks, environment)
        run([bin_folder / "pre-commit", "validate-manifest", hooks / ".pre-commit-hooks.yaml"], home, environment, True)
        project = home / "project"
        project.mkdir()

        def git(*words, expected=True):
            return run(["git", *words], project, environment, expected)

        def use(hook, **files):
            (project / ".pre-commit-config.yaml").write_text(f"repos:\n  - repo: {hooks}\n    rev: {revision}\n    hooks:\n      - id: {hook}\n")
            for name, text in files.items():
                (project / f"{name}.py").write_text(text)
            git("add", "--", ".pre-commit-config.yaml", *[f"{name}.py" for name in files])

        def hook(expected):
            return run([bin_folder / "pre-commit", "run", "--verbose"], project, environment, expected)

        git("init", "-q")
        use("lsp-tools-check", greet=CLEAN, app=CALLER)
        (project / "notes.txt").write_text("of no language\n")
        git("add", "notes.txt")
        said = hook(True)
        claim("Passed" in said, "a clean commit fails", said)
        git("commit", "-qm", "clean")
        use("lsp-tools-check", wrong=WRONG)
        said = hook(False)
        claim("wrong.py:1:14: error:" in said, "a type error is not reported", said)
        use("lsp-tools-check", wrong="count: int = 1\n")
        (project / "wrong.py").write_text(WRONG)
        said = hook(True)
        claim("Passed" in said, "unstaged content fails the commit", said)
        claim((project / "wrong.py").read_text() == WRONG, "unstaged content is lost", said)
        (project / "wrong.py").write_text("count: int = 1\n")
        (project / "-h.py").write_text(WRONG)
        git("add", "--", "-h.py")
        said = hook(False)
        claim("-h.py:1:14: error:" in said, "a file named like an option is not checked", said)
        git("rm", "-qf", "--", "-h.py")
        use("lsp-tools-check-against")
        said = hook(True)
        claim("Passed" in said, "a harmless commit fails", said)
        use("lsp-tools-check-against", greet=CHANGED)
        said = hook(False)
        claim("app.py:3" in said, "an error that the commit causes elsewhere is not reported", said)
    print("pre-commit-check: the hooks pass clean commits, fail on type errors, and check staged content")


main()
