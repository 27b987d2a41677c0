"""JavaScript and TypeScript packages with their tests, and the test files that execute each function, by V8's own coverage.

This is the data that c8 reads: each test file runs in its own process with NODE_V8_COVERAGE. If vitest compiles TypeScript, its reporter
maps V8's ranges back to the sources. A test is one file; it reaches a function if V8 counts a call of it while only that file runs.
"""

import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlparse

import closure
from work_tree import KEPT, git, run

SERVER = "typescript-language-server"
# The packages are placed below it, so that node finds its modules.
NODE = KEPT / "node"
MODULES = ["typescript@5.9.3", "vitest@4.0.17", "@vitest/coverage-v8@4.0.17", "tap@16.3.10"]
# The repository, the commit, source folders, the pattern of test files, and the test runner.
PACKAGES = {
    "ufo": ("unjs/ufo", "11308c0bb5cb4a4bc3bfcbdc5c03177b097423e6", ["src"], r"test/.*\.test\.ts", "vitest"),
    "commander": ("tj/commander.js", "ba6d13ddb4243e5913367734f8c159089ffe7834", ["lib"], r"tests/[^/]*\.test\.[cm]?js", "node"),
    "node-semver": (
        "npm/node-semver",
        "6e05b7637396ac66522cff8731f07cfe0ef49a29",
        ["bin", "classes", "functions", "internal", "ranges"],
        r"test/(?!fixtures/|map\.js).*\.js",
        "node",
    ),
}


def test_id(test):
    """The coverage id of a test in an answer."""
    return test["path"]


def file_of(test):
    return test


def imports(folder):
    files = [file for file in git(folder, "ls-files").splitlines() if re.search(r"\.[cm]?[jt]sx?$", file)]
    return closure.of_script(folder, files, NODE / "node_modules/typescript")


def package(name):
    """A fresh repository with the package, its functions that tests execute, and all tests."""
    repository, commit, sources, tests, runner = PACKAGES[name]
    if not (NODE / "node_modules/typescript").exists():
        NODE.mkdir(parents=True, exist_ok=True)
        run("npm", "install", "--prefix", NODE, "--no-audit", "--no-fund", "--ignore-scripts", *MODULES)
    clone = KEPT / "clones" / repository.replace("/", "+")
    if not clone.exists():
        clone.parent.mkdir(parents=True, exist_ok=True)
        run("git", "clone", "-q", f"https://github.com/{repository}", clone)
    folder = NODE / "of/real/packages" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    run("git", "clone", "-q", "--shared", clone, folder)
    git(folder, "checkout", "-q", commit)
    files = git(folder, "ls-files").splitlines()
    executed = truth(folder, [file for file in files if re.fullmatch(tests, file)], runner)
    sources = [file for file in files if file.split("/")[0] in sources and re.search(r"\.[cm]?[jt]s$", file)]
    return folder, functions(folder, sources, executed), set(executed)


def truth(folder, tests, runner):
    """The functions that each test file executes, as `[file, key]`; measured once per package."""
    kept = KEPT / "coverage" / f"{folder.name}.json"
    if not kept.exists():
        found, failed = {}, []
        for test in tests:
            with tempfile.TemporaryDirectory(prefix="reach-") as data:
                found[test], is_passed = RUNNERS[runner](folder, test, Path(data))
                failed += [] if is_passed else [test]
        print(f"{folder.name}: {len(tests)} test files, {len(failed)} of them failed {failed}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found))
    return json.loads(kept.read_text())


def run_by_node(folder, test, data):
    """Functions are identified by their end in UTF-16 code units: no two named ones end at the same place."""
    done = run("node", test, cwd=folder, env={**os.environ, "NODE_V8_COVERAGE": str(data)}, check=False)
    found = set()
    for report in data.glob("*.json"):
        for script in json.loads(report.read_text())["result"]:
            path = Path(unquote(urlparse(script["url"]).path))
            if script["url"].startswith("file:") and path.is_relative_to(folder) and "node_modules" not in path.parts:
                ends = [function["ranges"][0]["endOffset"] for function in script["functions"] if function["ranges"][0]["count"]]
                found |= {(str(path.relative_to(folder)), f"ends at {end}") for end in ends}
    return sorted(found), done.returncode == 0


def run_by_vitest(folder, test, data):
    """Functions are identified by the lines of their bodies."""
    options = ["--coverage.enabled", "--coverage.provider=v8", "--coverage.reporter=json", f"--coverage.reportsDirectory={data}", "--coverage.include=src/**"]
    done = run("node", NODE / "node_modules/vitest/vitest.mjs", "run", test, *options, cwd=folder, check=False)
    found = set()
    for file, covered in json.loads((data / "coverage-final.json").read_text()).items():
        for key, function in covered["fnMap"].items():
            if covered["f"][key]:
                lines = f"lines {function['loc']['start']['line']} to {function['loc']['end']['line']}"
                found.add((str(Path(file).relative_to(folder)), lines))
    return sorted(found), done.returncode == 0


RUNNERS = {"node": run_by_node, "vitest": run_by_vitest}


def functions(folder, sources, executed):
    """Every named function that some test executes: its position, its tests, and its file with one more statement in the body."""
    listed = json.loads(run("node", Path(__file__).with_name("functions.cjs"), NODE / "node_modules/typescript", *sources, cwd=folder).stdout)
    by_key = {}
    for test, keys in executed.items():
        for file, key in keys:
            by_key.setdefault((file, key), set()).add(test)
    found, seen = [], {}
    for function in listed:
        for key in function.pop("keys"):
            seen[(function["file"], key)] = seen.get((function["file"], key), 0) + 1
            function.setdefault("known_as", []).append((function["file"], key))
    for function in listed:
        keys = [key for key in function.pop("known_as") if seen[key] == 1]
        tests = set().union(*(by_key.get(key, set()) for key in keys))
        if tests and function["name"]:
            found.append({**function, "tests": tests})
    return found
