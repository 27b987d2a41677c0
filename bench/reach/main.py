#!/usr/bin/env python3
"""The share of the tests that execute an edited function which `lsp-tools tests` names. `just reach`

The reference is the languages' own coverage: coverage.py per test (python_truth.py), V8 per test file (script_truth.py). Ours are the tests
that `tests --against COMMIT` names if the function's body differs from COMMIT in one statement. Downloads are kept in target/bench/reach.

  python3 bench/reach/main.py [--functions N] [--only PACKAGE] [--seed N] [--misses] [--closure] [--program PATH]

Prints a table and writes target/bench/reach.json. `named beyond` are named tests that do not execute the function. `imports` also counts
tests in files that are named only because they import the changed file. With --closure, a second table adds all tests in files that import
the edited one, directly or not (closure.py), and the tests that execute the function (`needed`).
"""

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import closure
import python_truth
import script_truth
from work_tree import KEPT, ROOT, commit_with, run

STRONG = ["changed", "calls", "references", "mentions"]


def surroundings(folder):
    """Environment variables that exclude the machine's settings and state."""
    env = {**os.environ, "LSP_TOOLS_DATA_DIR": os.environ.get("LSP_TOOLS_BENCH_DATA", str(KEPT / "servers"))}
    for name in ("STATE", "CACHE", "CONFIG"):
        env[f"LSP_TOOLS_{name}_DIR"] = str(folder / name.lower())
    (folder / "config").mkdir()
    (folder / "config/lsp-tools.toml").write_text('prefer.python = ["pyright"]\n')
    return env


def ask(options, folder, function, env):
    began = time.monotonic()
    subject = [f"{function['file']}:{function['line']}:{function['name']}"]
    if not options.by_symbol:
        subject = ["--against", commit_with(folder, function["file"], function["edited"])]
    done = run(options.program, "tests", *subject, "--format", "json", "--limit", "100000", "--timeout", "300", cwd=folder, check=False, env=env)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{function['file']} {function['name']}: {done.stdout}{done.stderr}")
    if not answer.get("ok"):
        print("   no answer:", function["name"], answer.get("error"))
        answer = {"tests": [], "verdict": "no_data"}
    return answer, time.monotonic() - began


def judge(truth, function, answer, tests):
    by_kind = {}
    for group in answer["tests"]:
        found = by_kind.setdefault(group["how"], set())
        for file in group["files"]:
            path, names = file["path"], file.get("names", [])
            found.update(truth.test_id({"path": path, "name": name}) for name in names)
            if not names:
                # A file named as a whole stands for all its tests.
                whole = {one for one in tests if truth.file_of(one) == path} if group["how"] != "imports" else set()
                found.update(whole or {truth.test_id({"path": path})})
    strong = set().union(*(by_kind.get(kind, set()) for kind in STRONG))
    named = strong | by_kind.get("names", set())
    imports = by_kind.get("imports", set())
    reached = function["tests"] & named
    missed = function["tests"] - reached
    named_or_importing = (named & tests) | {test for test in tests if truth.file_of(test) in imports}
    return {
        "function": f"{function['file']}:{function['line']}:{function['name']}",
        "executed": len(function["tests"]),
        "strong": len(function["tests"] & strong),
        "reached": len(reached),
        "named": len(named),
        "with_imports": len(reached) + sum(truth.file_of(test) in imports for test in missed),
        "missed": sorted(missed),
        "verdict": answer["verdict"],
        "falsely_complete": answer["verdict"] == "complete" and bool(missed),
        "notes": answer.get("notes", []),
        "selections": {
            "tests": selection(truth, function, named & tests),
            "with importing": selection(truth, function, named_or_importing),
        },
    }


def selection(truth, function, chosen):
    """The share of the needed tests among `chosen`, and the number of tests and files to run."""
    files = {truth.file_of(test) for test in chosen}
    return {"reached": len(function["tests"] & chosen), "tests": len(chosen), "files": len(files)}


def select_by_imports(truth, function, folder, tests):
    importing, took = closure.files_reaching(truth.imports, folder, function["file"])
    return {**selection(truth, function, {test for test in tests if truth.file_of(test) in importing}), "took": took}


def measure(truth, package, options, env):
    folder, found, tests = truth.package(package)
    run(options.program, "install", truth.SERVER, cwd=folder, env=env)
    random.Random(f"{options.seed}{package}").shuffle(found)
    outcomes = []
    for function in found[: options.functions]:
        answer, took = ask(options, folder, function, env)
        outcome = {"package": package, "took": took, **judge(truth, function, answer, tests)}
        if options.closure:
            chosen = outcome["selections"]
            chosen["tests"]["took"] = chosen["with importing"]["took"] = took
            chosen["closure"] = select_by_imports(truth, function, folder, tests)
            chosen["needed"] = {**selection(truth, function, function["tests"]), "took": 0}
            outcome["all_tests"], outcome["all_files"] = len(tests), len({truth.file_of(test) for test in tests})
        outcomes.append(outcome)
        print(f"  {outcome['function']:<60} {outcome['reached']:>4}/{outcome['executed']:<4} named {outcome['named']:<4} strong {outcome['strong']:<4} {outcome['verdict']:<8} {took:>5.1f} s", flush=True)
        if options.misses:
            for missed in outcome["missed"][:5]:
                print("      missed:", missed)
            for note in outcome["notes"][:3]:
                print("      said:  ", note)
    run(options.program, "daemon", "stop", cwd=folder, check=False, env=env)
    return outcomes


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--functions", type=int, default=20)
    words.add_argument("--only", default="")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--misses", action="store_true")
    words.add_argument("--by-symbol", action="store_true", help="name the function by its address, without an edit")
    words.add_argument("--closure", action="store_true", help="also select tests by imports alone, and compare")
    words.add_argument("--program", default=str(ROOT / "target/release/lsp-tools"))
    options = words.parse_args()
    options.program = str(Path(options.program).resolve())
    KEPT.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="reach-"))
    env, rows = surroundings(folder), []
    try:
        for truth in (python_truth, script_truth):
            for package in truth.PACKAGES:
                if package.startswith(options.only):
                    rows.append((package, measure(truth, package, options, env)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report(rows)
    if options.closure:
        report_selections(rows)


def share(part, whole):
    return 100 * part / whole if whole else 100.0


COLUMNS = {
    "functions": ("functions", "{}"),
    "pairs": ("pairs", "{}"),
    "recall": ("recall", "{:.1f}%"),
    "mean_recall": ("of each", "{:.1f}%"),
    "recall_by_uses": ("by uses", "{:.1f}%"),
    "recall_with_imports": ("imports", "{:.1f}%"),
    "named_beyond": ("beyond", "{:.1f}%"),
    "complete": ("complete", "{}"),
    "falsely_complete": ("falsely", "{}"),
    "median_s": ("median", "{:.1f} s"),
}


def figures(outcomes):
    total = lambda key: sum(outcome[key] for outcome in outcomes)
    return {
        "functions": len(outcomes),
        "pairs": total("executed"),
        "recall": share(total("reached"), total("executed")),
        "mean_recall": statistics.mean(share(one["reached"], one["executed"]) for one in outcomes),
        "recall_by_uses": share(total("strong"), total("executed")),
        "recall_with_imports": share(total("with_imports"), total("executed")),
        "named_beyond": share(total("named") - total("reached"), total("named")) if total("named") else 0.0,
        "complete": sum(one["verdict"] == "complete" for one in outcomes),
        "falsely_complete": total("falsely_complete"),
        "median_s": statistics.median(one["took"] for one in outcomes),
    }


def report(rows):
    everything = [outcome for _, outcomes in rows for outcome in outcomes]
    table = [{"package": name, **figures(outcomes)} for name, outcomes in [*rows, ("all", everything)] if outcomes]
    print(f"\n{'package':<24}" + "".join(f"{title:>10}" for title, _ in COLUMNS.values()))
    for row in table:
        print(f"{row['package']:<24}" + "".join(f"{form.format(row[key]):>10}" for key, (_, form) in COLUMNS.items()))
    for outcome in everything:
        if outcome["falsely_complete"]:
            print(f"falsely complete: {outcome['package']} {outcome['function']}, {len(outcome['missed'])} missed, such as {outcome['missed'][0]}")
    (KEPT.parent / "reach.json").write_text(json.dumps({"figures": table, "functions": everything}, indent=1))


def report_selections(rows):
    everything = [outcome for _, outcomes in rows for outcome in outcomes]
    print(f"\n{'package':<24}{'selection':<16}{'recall':>10}{'no miss':>10}{'of tests':>10}{'of files':>10}{'median':>10}")
    for package, outcomes in [*rows, ("all", everything)]:
        for name in ("needed", "tests", "with importing", "closure"):
            chosen = [outcome["selections"][name] for outcome in outcomes]
            total = lambda key: sum(one[key] for one in chosen)
            recall = share(total("reached"), sum(outcome["executed"] for outcome in outcomes))
            whole = sum(one["reached"] == outcome["executed"] for one, outcome in zip(chosen, outcomes))
            of_tests = statistics.mean(share(one["tests"], outcome["all_tests"]) for one, outcome in zip(chosen, outcomes))
            of_files = statistics.mean(share(one["files"], outcome["all_files"]) for one, outcome in zip(chosen, outcomes))
            took = statistics.median(one["took"] for one in chosen)
            print(f"{package:<24}{name:<16}{recall:>9.1f}%{whole:>10}{of_tests:>9.1f}%{of_files:>9.1f}%{took:>8.2f} s")


if __name__ == "__main__":
    main()
