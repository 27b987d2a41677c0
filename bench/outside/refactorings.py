"""RefactorBench's renames and moves, each done by language commands alone, and judged by the benchmark's own tests.

A task that fails may still have a complete answer: one that names every file that the failing tests read. The tests read files by paths relative
to a folder of the repository.
"""

import ast
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

import support

REPOSITORY = "microsoft/RefactorBench"
PATIENCE = 900


def failures(test, folder):
    """The failing tests: the last line of each one's message, and the paths that it reads. None if a test cannot run."""
    done = support.run([sys.executable, test, "-v"], folder)
    if not re.search(r"^Ran \d+ tests?", done.stderr, re.M):
        return None
    names = set(re.findall(r"^(?:FAIL|ERROR): (\w+)", done.stderr, re.M))
    source = ast.parse(test.read_text())
    paths = {}
    for node in ast.walk(source):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            words = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            paths[node.name] = {word.removeprefix("../") for word in words if word.startswith("../")}
    messages = [part.strip().splitlines()[-1] for part in re.split(r"^-{20,}$", done.stderr, flags=re.M)[:-1] if "Error" in part]
    return [(name, paths.get(name, set())) for name in sorted(names)], messages


def do(name, commands, files, server, kept):
    """Runs the commands in a copy of the task's repository, and the tests before and after."""
    test = files / "tests" / name
    with tempfile.TemporaryDirectory(prefix="refactor-") as place:
        root = pathlib.Path(place) / "repository"
        shutil.copytree(files / "repositories" / name.split("/")[0], root, symlinks=True)
        support.run(["git", "init", "-q"], root, check=True)
        beside = root / "refactorbench-tests"
        beside.mkdir()
        before = failures(test, beside)
        if before is None or not before[0]:
            return {"outcome": "vacuous", "left": [], "why": "its tests do not run, or pass before the change"}
        beside.rmdir()
        said, refused = [], ""
        for words in commands:
            done = support.run([support.PROGRAM, "--workspace", root, "--timeout", "180", "--format", "json", *words, "--no-diagnostics"], root,
                               env=support.parity.environment())
            said.append(done.stdout + done.stderr)
            if done.returncode not in (0, 1):
                refused = re.sub(r"\s+", " ", done.stderr or done.stdout)[:200]
        (kept / f"{name.replace('/', '+')}.txt").write_text("\n".join(said))
        beside.mkdir()
        after = failures(test, beside)
        failed, messages = after if after else ([], ["the tests do not run"])
    answer = "\n".join(said)
    left = sorted({path for _, paths in failed for path in paths if (files / "repositories" / name.split("/")[0] / path).is_file()})
    unnamed = [path for path in left if path not in answer]
    outcome = "pass" if after and not failed else "named" if after and left and not unnamed else "fail"
    return {"outcome": outcome, "left": left, "unnamed": unnamed, "why": refused or "; ".join(messages)[:400], "failed": len(failed)}


def main(chosen):
    files, commit = support.source(REPOSITORY, chosen.given, ["tests", "repositories"])
    tasks = tomllib.loads(pathlib.Path(__file__).with_suffix(".toml").read_text())
    kinds = tasks.pop("kinds")
    support.parity.install(chosen.server)
    config = support.parity.KEPT / "config"
    config.mkdir(exist_ok=True)
    (config / "lsp-tools.toml").write_text(f'prefer.python = ["{chosen.server}"]\n')
    kept = support.KEPT / "refactorings" / chosen.server
    kept.mkdir(parents=True, exist_ok=True)
    results = {}
    for kind in kinds:
        for name, commands in tasks[kind].items():
            mark = kept / f"{name.replace('/', '+')}.json"
            if re.search(chosen.only, name):
                try:
                    result = do(name, commands, files, chosen.server, kept)
                except subprocess.TimeoutExpired:
                    result = {"outcome": "fail", "left": [], "unnamed": [], "why": "a command took longer than its deadline"}
                mark.write_text(json.dumps(result))
                print(f"{kind}, {name}: {result['outcome']}", *(f"{key}: {result[key]}" for key in ("unnamed", "why") if result.get(key)), sep="\n  ", flush=True)
            if mark.is_file():
                results[kind, name] = json.loads(mark.read_text())
    rows = []
    for kind, title in kinds.items():
        some = [result["outcome"] for (of, _), result in results.items() if of == kind]
        rows.append([title, len(some), some.count("pass"), some.count("named"), len(some) - some.count("pass") - some.count("named")])
        print(*rows[-1], sep=", ")
    if len(results) == sum(map(len, tasks.values())):
        misses = [[name, result["outcome"], ", ".join(result.get("unnamed", [])) or "-", result["why"][:160]]
                  for (_, name), result in results.items() if result["outcome"] != "pass"]
        text = (f"[{REPOSITORY}](https://github.com/{REPOSITORY}), {commit}, with {chosen.server} of `lsp-tools install`. A task passes by the "
                f"benchmark's tests; it is named if the answer has every file that failing tests read.\n\n")
        head = ["task", "outcome", "files that the answer does not name", "first failures"]
        support.record(support.REFACTORINGS, text + support.table(["tasks", "number", "pass", "named", "fail"], rows) + "\n\n" + support.table(head, misses))
    return 0 if results else 1
