#!/usr/bin/env python3
"""The share of a commit's new compiler errors that `lsp-tools check --against` names. `just gate`

Real commits of twelve repositories are compared with their parents. Few commits add errors and more of them fix some, so each pair is also
measured backwards. The reference is the language's own compiler over the whole tree before and after. Errors are compared by file, line and rule.
Prints a table, the misses with their reason, and writes target/bench/gate.json.

The repositories are cloned once, into target/bench/gate. Options: --commits N (per repository), --only NAME, --program PATH, --seed N.
"""

import argparse
import difflib
import fnmatch
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "target/bench/gate"
REPOSITORIES = {
    "encode/httpx": "python",
    "pallets/click": "python",
    "pallets/werkzeug": "python",
    "encode/starlette": "python",
    "pytest-dev/pluggy": "python",
    "sdispater/tomlkit": "python",
    "sindresorhus/ky": "typescript",
    "unjs/ufo": "typescript",
    "unjs/defu": "typescript",
    "gorilla/mux": "go",
    "spf13/pflag": "go",
    "dtolnay/itoa": "rust",
}
SERVERS = {
    "python": "pyright",
    "typescript": "typescript-language-server",
    "go": "gopls",
    "rust": "rust-analyzer",
}
# Without these files the compiler has no project.
PROJECT_FILES = {"python": None, "typescript": "tsconfig.json", "go": "go.mod", "rust": "Cargo.toml"}
ENDINGS = {
    "python": (".py", ".pyi"),
    "typescript": (".ts", ".tsx", ".mts", ".cts"),
    "go": (".go",),
    "rust": (".rs",),
}


class CompilerStopped(Exception):
    """The compiler stopped before it read the sources, so its output is unusable."""


def run(words, cwd, **more):
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, errors="replace", **more)


def git(folder, *words):
    done = run(["git", *words], folder)
    if done.returncode != 0:
        raise SystemExit(f"git {' '.join(words)}: {done.stderr}")
    return done.stdout


def clone(name):
    folder = KEPT / "clones" / name.replace("/", "+")
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        git(folder.parent, "clone", "-q", f"https://github.com/{name}", str(folder))
    return folder


def chosen_commits(folder, language, count, seed):
    """Commits with one parent that touch sources. The selection depends only on the seed."""
    listed = git(folder, "log", "--no-merges", "--min-parents=1", "--format=%H", "-n", "600", "HEAD", "--",
                 *[f"*{ending}" for ending in ENDINGS[language]])
    needed = PROJECT_FILES[language]
    commits = [commit for commit in listed.split() if not needed or has_file(folder, f"{commit}~1", needed) and has_file(folder, commit, needed)]
    random.Random(seed).shuffle(commits)
    return commits[:count]


def has_file(folder, commit, name):
    return run(["git", "cat-file", "-e", f"{commit}:{name}"], folder).returncode == 0


class Compiler:
    """The language's own compiler over a whole tree: a counter of (file, 0-based line, rule, message), and the seconds it took."""

    def __init__(self, language, data):
        self.language = language
        self.data = data

    def tool(self, *patterns):
        for pattern in patterns:
            found = sorted(self.data.glob(pattern), key=lambda path: path.stat().st_mtime)
            if found:
                return found[-1]
        raise SystemExit(f"none of {patterns} below {self.data}")

    def check(self, tree):
        began = time.monotonic()
        found = getattr(self, self.language)(tree)
        return Counter(found), time.monotonic() - began

    def python(self, tree):
        program = self.tool("servers/pyright/*/npm/node_modules/pyright/index.js")
        said = json.loads(run(["node", str(program), "--outputjson"], tree).stdout)
        for item in said["generalDiagnostics"]:
            if item["severity"] == "error":
                path = os.path.relpath(os.path.realpath(item["file"]), os.path.realpath(tree))
                yield path, item["range"]["start"]["line"], item.get("rule") or "", item["message"]

    def typescript(self, tree):
        program = self.tool("servers/typescript-language-server/*/npm/node_modules/typescript/lib/tsc.js")
        said = run(["node", str(program), "--noEmit", "--pretty", "false", "-p", "."], tree).stdout
        for line in said.splitlines():
            place, mark, rest = line.partition("): error TS")
            if mark and "(" in place:
                path, _, at = place.rpartition("(")
                if path.endswith(".json"):
                    raise CompilerStopped(line)
                yield os.path.normpath(path), int(at.split(",")[0]) - 1, *rest.split(":", 1)

    def covers(self, tree):
        """Whether the compiler's configuration includes a file."""
        if self.language == "python":
            return included_by_pyright(tree)
        if self.language != "typescript":
            return lambda path: True
        program = self.tool("servers/typescript-language-server/*/npm/node_modules/typescript/lib/tsc.js")
        listed = run(["node", str(program), "--listFilesOnly", "-p", "."], tree).stdout.splitlines()
        covered = {os.path.relpath(os.path.realpath(path), os.path.realpath(tree)) for path in listed}
        return covered.__contains__

    def go(self, tree):
        program = shutil.which("go") or str(self.tool("servers/gopls/**/bin/go"))
        env = {**os.environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOCACHE": str(self.data / "go-cache")}
        said = run([program, "vet", "./..."], tree, env=env).stderr
        for line in said.splitlines():
            parts = line.removeprefix("vet: ").split(":")
            if len(parts) > 3 and parts[0].endswith(".go") and parts[1].isdigit():
                yield os.path.normpath(parts[0]), int(parts[1]) - 1, "", parts[-1]

    def rust(self, tree):
        env = {**os.environ, "CARGO_TARGET_DIR": str(self.data / "cargo-target")}
        said = run(["cargo", "check", "--all-targets", "--message-format=json"], tree, env=env).stdout
        for line in said.splitlines():
            message = json.loads(line).get("message") or {}
            if message.get("level") == "error" and message.get("spans"):
                place = next(span for span in message["spans"] if span["is_primary"])
                yield place["file_name"], place["line_start"] - 1, (message.get("code") or {}).get("code", ""), message["message"]


def included_by_pyright(tree):
    """Whether pyright's own configuration includes a file."""
    own, project = tree / "pyrightconfig.json", tree / "pyproject.toml"
    settings = {}
    if own.exists():
        settings = json.loads(own.read_text())
    elif project.exists():
        settings = tomllib.loads(project.read_text()).get("tool", {}).get("pyright", {})
    include, exclude = settings.get("include", ["."]), settings.get("exclude", [])
    is_in = lambda path, places: any(
        place == "." or path == place or path.startswith(place.rstrip("/") + "/") or fnmatch.fnmatch(path, place)
        for place in (place.removeprefix("./") for place in places)
    )
    return lambda path: is_in(path, include) and not is_in(path, exclude)


def moved_lines(folder, earlier, later):
    """The later name and the line mapping of each file that differs between two commits."""
    names = git(folder, "diff", "--name-status", "-M", "-z", earlier, later).split("\0")
    maps = {}
    while len(names) > 1:
        status = names.pop(0)
        old = names.pop(0)
        new = names.pop(0) if status[0] in "RC" else old
        before = run(["git", "show", f"{earlier}:{old}"], folder).stdout.splitlines()
        after = run(["git", "show", f"{later}:{new}"], folder).stdout.splitlines()
        lines = {}
        for one, other, size in difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
            lines.update({one + at: other + at for at in range(size)})
        maps[old] = (new, lines)
    return maps


def new_errors(before, after, maps):
    """The errors of `after` that `before` lacks, with lines mapped. An error with equal text in an edited line is not new."""
    known, edited = Counter(), Counter()
    for (path, line, rule, message), count in before.items():
        name, lines = maps.get(path, (path, None))
        if lines is None or line in lines:
            known[(name, line if lines is None else lines[line], rule)] += count
        else:
            edited[(name, rule, message)] += count
    new = Counter()
    for (path, line, rule, message), count in after.items():
        moved = min(count, known[(path, line, rule)])
        known[(path, line, rule)] -= moved
        same = min(count - moved, edited[(path, rule, message)])
        edited[(path, rule, message)] -= same
        if count > moved + same:
            new[(path, line, rule)] += count - moved - same
    return new


def ours(program, tree, language, earlier, env):
    began = time.monotonic()
    words = [program, "check", "--no-store", "--against", earlier, "--severity", "error", "--format", "json"]
    done = run(words, tree, env=env)
    took = time.monotonic() - began
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise SystemExit(f"{words} in {tree}: {done.stdout[:400]} {done.stderr[:400]}") from None
    server = SERVERS[language]
    found = Counter()
    for item in answer.get("diagnostics", []):
        if item["severity"] == "error" and item["server"] in (server, "syntax"):
            rule = "" if language == "go" else item.get("code") or ""
            found[(item["path"], int(item["at"].split(":")[0]) - 1, rule)] += 1
    return answer, found, took


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--commits", type=int, default=9)
    options.add_argument("--only", default="")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--program", default=str(ROOT / "target/release/lsp-tools"))
    options = options.parse_args()
    options.program = str(Path(options.program).resolve())
    folder = Path(tempfile.mkdtemp(prefix="gate-"))
    data = Path(os.environ.get("LSP_TOOLS_BENCH_DATA", KEPT / "servers"))
    env = {**os.environ, "LSP_TOOLS_DATA_DIR": str(data)}
    for name in ("STATE", "CACHE", "CONFIG"):
        env[f"LSP_TOOLS_{name}_DIR"] = str(folder / name.lower())
    (folder / "config").mkdir()
    (folder / "config/lsp-tools.toml").write_text('prefer.python = ["pyright"]\n')
    outcomes = []
    try:
        for name, language in REPOSITORIES.items():
            if options.only not in name:
                continue
            needed = {"go": "python3", "rust": "cargo"}.get(language, "node")
            if not shutil.which(needed):
                print(f"skipped {name}: {needed} is not installed")
                continue
            outcomes += measure(name, language, options, folder, data, env)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report(outcomes)


def measure(name, language, options, folder, data, env):
    kept = clone(name)
    tree = folder / "work/of/repositories" / name.split("/")[1]
    git(folder, "clone", "-q", "--shared", str(kept), str(tree))
    run([options.program, "install", SERVERS[language]], tree, env=env)
    if language == "typescript":
        # The modules of the newest commit serve all commits: git ignores the folder, so it stays.
        run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"], tree)
    compiler = Compiler(language, data)
    outcomes = []
    for commit in chosen_commits(tree, language, options.commits, options.seed):
        parent = git(tree, "rev-parse", f"{commit}~1").strip()
        checks = {}
        try:
            for at in (parent, commit):
                check_out(tree, at)
                checks[at] = compiler.check(tree)
        except CompilerStopped as why:
            print(f"left out {name} {commit[:10]}: {why}", flush=True)
            continue
        full = sum(seconds for _, seconds in checks.values())
        for way, earlier, later in (("forth", parent, commit), ("back", commit, parent)):
            check_out(tree, later)
            if language == "rust":
                # Without trust, the server runs nothing of the project and reports partial answers.
                run([options.program, "trust", "--yes"], tree, env=env)
            expected = new_errors(checks[earlier][0], checks[later][0], moved_lines(tree, earlier, later))
            answer, found, took = ours(options.program, tree, language, earlier, env)
            outcomes.append({
                "repository": name,
                "commit": commit[:10],
                "way": way,
                **compare(expected, found, compiler.covers(tree)),
                "verdict": answer.get("verdict"),
                "notes": answer.get("notes", [])[:3] + [answer[key] for key in ("error",) if key in answer],
                "files": answer.get("files"),
                "seconds": round(took, 2),
                "full": round(full, 2),
            })
            print(json.dumps(outcomes[-1]), flush=True)
    run([options.program, "daemon", "stop"], tree, env=env)
    return outcomes


def check_out(tree, commit):
    git(tree, "checkout", "-q", "--force", commit)
    git(tree, "clean", "-fdq")


def compare(expected, found, covers):
    """Our new errors against the compiler's: named, wrong and missed. Files outside the compiler's configuration are left out."""
    found = Counter({key: count for key, count in found.items() if covers(key[0])})
    return {
        "expected": sum(expected.values()),
        "named": sum((expected & found).values()),
        "wrong": [f"{path}:{line + 1} {rule}" for path, line, rule in (found - expected).elements()],
        "missed": [f"{path}:{line + 1} {rule}" for path, line, rule in (expected - found).elements()],
    }


def report(outcomes):
    false = sum(one["verdict"] == "complete" and bool(one["missed"]) for one in outcomes)
    print(f"\n{'repository':22} differences  new  named  wrong  complete  time ÷ two checks")
    for name in dict.fromkeys(one["repository"] for one in outcomes):
        print(f"{name:22} {row([one for one in outcomes if one['repository'] == name])}")
    for way in ("forth", "back"):
        print(f"{'all, ' + way:22} {row([one for one in outcomes if one['way'] == way])}")
    print(f"{'all':22} {row(outcomes)}")
    for one in outcomes:
        at = f"{one['repository']} {one['commit']} {one['way']}"
        for missed in one["missed"]:
            print(f"missed {at} {missed} ({one['verdict']}) {one['notes']}")
        for wrong in one["wrong"]:
            print(f"wrong  {at} {wrong} ({one['verdict']})")
    print(f"falsely complete: {false}")
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT.parent / "gate.json").write_text(json.dumps(outcomes, indent=1))


def row(outcomes):
    new = sum(one["expected"] for one in outcomes)
    named = sum(one["named"] for one in outcomes)
    wrong = sum(len(one["wrong"]) for one in outcomes)
    complete = sum(one["verdict"] == "complete" for one in outcomes)
    ratio = statistics.median(one["seconds"] / one["full"] for one in outcomes) if outcomes else 0
    return f"{len(outcomes):11} {new:4} {named:6} {wrong:6} {complete:9}  {ratio:.2f}"


if __name__ == "__main__":
    main()
