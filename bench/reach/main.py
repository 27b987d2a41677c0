#!/usr/bin/env python3
"""Of the tests that execute a function, how many does `lsp-tools tests` name when the function is edited? `just reach`

The truth is coverage.py's, with the test as the context of every line: a test reaches a function if it executes a line of its body. Ours
are the tests that `tests --against COMMIT` names, where the function's body differs from COMMIT in one statement. The packages are sdists
from PyPI with their own tests; each is fetched once into target/bench/reach.

  python3 bench/reach/main.py [--functions N] [--only PACKAGE] [--seed N] [--misses] [--program PATH]

Prints a table and writes target/bench/reach.json. `named beyond` are tests that are named and do not execute the function.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "target/bench/reach"
# Each with what its tests need beside pytest.
PACKAGES = {
    "itsdangerous==2.2.0": ["freezegun"],
    "click==8.1.7": [],
    "jinja2==3.1.4": ["markupsafe"],
    "more-itertools==10.5.0": [],
    "packaging==24.1": ["pretend"],
    "iniconfig==2.0.0": [],
}
STRONG = ["changed", "calls", "references"]


def run(*words, cwd=None, check=True, env=None):
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr or done.stdout}")
    return done


def environment():
    """A virtual environment with pytest, pytest-cov and what tests need; made once."""
    folder = KEPT / "environment"
    python = folder / "bin/python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        needed = [need for needs in PACKAGES.values() for need in needs]
        run(python, "-m", "pip", "install", "-q", "pytest==8.3.5", "pytest-cov", "setuptools", "wheel", "flit_core", "hatchling", *needed)
    return python


def project(package, python):
    """A fresh copy of the package's sdist as a git repository, importable from its own environment."""
    kept = KEPT / "sdists" / package
    if not list(kept.glob("*.tar.gz")):
        run(python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", package, "-d", kept)
    folder = KEPT / "of/real/packages" / package.replace("==", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run("tar", "xzf", next(kept.glob("*.tar.gz")), "--strip-components=1", "-C", folder)
    git(folder, "init", "-q")
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", "as published")
    return folder


def git(folder, *words, **more):
    return run("git", "-c", "user.name=bench", "-c", "user.email=bench@invalid", *words, cwd=folder, **more).stdout.strip()


def truth(folder, python):
    """For each source file and line the tests that execute it; found out once for each package."""
    kept = KEPT / "coverage" / f"{folder.name}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(measure(folder, python)))
    return {
        file: {int(line): set(tests) for line, tests in lines.items()}
        for file, lines in json.loads(kept.read_text()).items()
    }


def measure(folder, python):
    """Runs the package's tests under coverage.py."""
    sources = folder / "src" if (folder / "src").is_dir() else folder
    tests = "tests" if (folder / "tests").is_dir() else "."
    data = KEPT / "coverage" / folder.name
    data.unlink(missing_ok=True)
    # The runs of pytest must leave nothing in the project, which is compared with its commit.
    env = {**os.environ, "PYTHONPATH": str(sources), "COVERAGE_FILE": str(data), "PYTHONDONTWRITEBYTECODE": "1"}
    words = ["-q", "-p", "no:cacheprovider", f"--cov={sources}", "--cov-context=test", "--cov-report=", tests]
    ended = run(python, "-m", "pytest", *words, cwd=folder, env=env, check=False)
    print(f"{folder.name}: {ended.stdout.strip().splitlines()[-1] if ended.stdout.strip() else ended.stderr}")
    code = """
import coverage, json, sys
data = coverage.CoverageData(sys.argv[1]); data.read()
print(json.dumps({file: data.contexts_by_lineno(file) for file in data.measured_files()}))
"""
    lines = json.loads(run(python, "-c", code, data).stdout)
    # A parameter of a test is no test of its own.
    name = lambda context: re.sub(r"\[.*", "", context.rsplit("|", 1)[0], flags=re.S)
    return {
        str(Path(file).relative_to(folder)): {
            line: sorted({name(context) for context in contexts if context}) for line, contexts in of.items()
        }
        for file, of in lines.items()
        if Path(file).is_relative_to(folder)
    }


def functions(folder, lines):
    """Every function with a body that some test executes: file, line, name, the line before which a statement can be put, its tests."""
    found = []
    for file, executed in lines.items():
        if "test" in Path(file).parts[0] or "/tests/" in file:
            continue
        text = (folder / file).read_text()
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            if not body or body[0].lineno <= node.lineno:
                continue
            tests = set()
            for line in range(body[0].lineno, node.end_lineno + 1):
                tests |= executed.get(line, set())
            if tests:
                start = min([body[0].lineno, *[mark.lineno for mark in getattr(body[0], "decorator_list", [])]])
                found.append({"file": file, "line": node.lineno, "name": node.name, "at": start, "column": body[0].col_offset, "tests": tests})
    return found


def commit_with_edit(folder, function):
    """A commit whose tree has one more statement at the start of the function's body; the work tree stays as it is."""
    text = (folder / function["file"]).read_text().splitlines(keepends=True)
    text.insert(function["at"] - 1, " " * function["column"] + "edited = 1\n")
    blob = subprocess.run(["git", "hash-object", "-w", "--stdin"], input="".join(text), cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    env = {**os.environ, "GIT_INDEX_FILE": str(folder / ".git/index-of-edit")}
    run("git", "read-tree", "HEAD", cwd=folder, env=env)
    run("git", "update-index", "--cacheinfo", f"100644,{blob},{function['file']}", cwd=folder, env=env)
    tree = run("git", "write-tree", cwd=folder, env=env).stdout.strip()
    return git(folder, "commit-tree", tree, "-p", "HEAD", "-m", "before")


def node_id(test):
    return f"{test['path']}::{test['name'].replace('.', '::')}"


def ask(program, folder, function, by_symbol):
    began = time.monotonic()
    subject = [f"{function['file']}:{function['line']}:{function['name']}"] if by_symbol else ["--against", commit_with_edit(folder, function)]
    done = run(program, "tests", *subject, "--format", "json", "--timeout", "300", cwd=folder, check=False)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{function}: {done.stdout}{done.stderr}")
    if not answer.get("ok"):
        print("   no answer:", function["name"], answer.get("error"))
        answer = {"tests": [], "verdict": "no_data"}
    return answer, time.monotonic() - began


def judge(function, answer):
    by_kind = {}
    for test in answer["tests"]:
        by_kind.setdefault(test["how"], set()).add(node_id(test) if "name" in test else test["path"])
    strong = set().union(*(by_kind.get(kind, set()) for kind in STRONG))
    named = strong | by_kind.get("names", set())
    imports = by_kind.get("imports", set())
    hit = lambda named: function["tests"] & named
    reached = hit(named)
    netted = {test for test in function["tests"] - reached if test.split("::")[0] in imports}
    return {
        "executed": len(function["tests"]),
        "strong": len(hit(strong)),
        "strong_named": len(strong),
        "reached": len(reached),
        "named": len(named),
        "with_imports": len(reached) + len(netted),
        "missed": sorted(function["tests"] - reached),
    }


def share(part, whole):
    return 100 * part / whole if whole else 100.0


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--functions", type=int, default=20)
    words.add_argument("--only", default="")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--misses", action="store_true")
    words.add_argument("--by-symbol", action="store_true", help="ask about the function by its address, without an edit")
    words.add_argument("--program", default=str(ROOT / "target/release/lsp-tools"))
    options = words.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    python, rows = environment(), []
    for package in (name for name in PACKAGES if name.startswith(options.only)):
        folder = project(package, python)
        found = functions(folder, truth(folder, python))
        random.Random(f"{options.seed}{package}").shuffle(found)
        outcomes = []
        for function in found[: options.functions]:
            answer, took = ask(options.program, folder, function, options.by_symbol)
            outcome = {**judge(function, answer), "verdict": answer["verdict"], "notes": answer.get("notes", []), "took": took, "package": package}
            outcome["function"] = f"{function['file']}:{function['line']}:{function['name']}"
            outcomes.append(outcome)
            print(f"  {outcome['function']:<60} {outcome['reached']:>4}/{outcome['executed']:<4} named {outcome['named']:<4} strong {outcome['strong']:<4} {outcome['verdict']:<8} {took:>5.1f} s", flush=True)
            if options.misses:
                for missed in outcome["missed"][:5]:
                    print("      missed:", missed)
                for note in outcome["notes"][:3]:
                    print("      said:  ", note)
        run(options.program, "daemon", "stop", cwd=folder, check=False)
        rows.append((package, outcomes))
    report(rows)


def report(rows):
    everything = [outcome for _, outcomes in rows for outcome in outcomes]
    table = []
    print(f"\n{'package':<26}{'functions':>10}{'pairs':>8}{'recall':>9}{'of each':>9}{'by uses':>9}{'imports':>9}{'beyond':>9}{'complete':>10}{'median':>9}")
    for name, outcomes in [*rows, ("all", everything)]:
        total = lambda key: sum(outcome[key] for outcome in outcomes)
        if not outcomes:
            continue
        row = {
            "package": name,
            "functions": len(outcomes),
            "pairs": total("executed"),
            "recall": share(total("reached"), total("executed")),
            "mean_recall": statistics.mean(share(one["reached"], one["executed"]) for one in outcomes),
            "recall_by_uses": share(total("strong"), total("executed")),
            "recall_with_imports": share(total("with_imports"), total("executed")),
            "named_beyond": share(total("named") - total("reached"), total("named")) if total("named") else 0.0,
            "complete": sum(one["verdict"] == "complete" for one in outcomes),
            "median_s": statistics.median(one["took"] for one in outcomes),
        }
        table.append(row)
        print(f"{name:<26}{row['functions']:>10}{row['pairs']:>8}{row['recall']:>8.1f}%{row['mean_recall']:>8.1f}%{row['recall_by_uses']:>8.1f}%{row['recall_with_imports']:>8.1f}%{row['named_beyond']:>8.1f}%{row['complete']:>10}{row['median_s']:>7.1f} s")
    (KEPT.parent / "reach.json").write_text(json.dumps({"figures": table, "functions": everything}, indent=1))


if __name__ == "__main__":
    main()
