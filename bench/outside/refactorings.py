"""RefactorBench's renames and moves, each done only with language commands and judged by the benchmark's own tests.

The answer of a failed task counts as complete if it names all files of the failing tests that it did not change. Tests name
files by paths relative to a folder of the repository.
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


def paths_in(node):
    """The paths in the string literals of a syntax node."""
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and str(one.value).startswith("../")]


def failures(test, folder):
    """The failing tests: the name, files and message of each. None if the tests cannot run."""
    done = support.run([sys.executable, test], folder)
    if not re.search(r"^Ran \d+ tests?", done.stderr, re.M):
        return None
    source = ast.parse(test.read_text())
    methods = {node.name: node for node in ast.walk(source) if isinstance(node, ast.FunctionDef)}
    # Files that `setUp` stores in attributes.
    attributes = {target.attr: paths_in(node.value) for node in ast.walk(source) if isinstance(node, ast.Assign)
                  for target in node.targets if isinstance(target, ast.Attribute)}
    found = []
    for part in re.split(r"^={20,}$", done.stderr, flags=re.M)[1:]:
        name = re.search(r"^(?:FAIL|ERROR): (\w+)", part, re.M)[1]
        message = re.findall(r"^\w*(?:Error|Exception)\b.*", part, re.M)[-1]
        words = re.findall(r"\.\./[\w./-]*\w", message)
        used = [one.attr for one in ast.walk(methods[name]) if isinstance(one, ast.Attribute)]
        words = words or paths_in(methods[name]) + [path for attribute in used for path in attributes.get(attribute, [])]
        found.append((name, {word.removeprefix("../") for word in words}, message[:200]))
    return found


def beside_changes(said):
    """The text of answers without the list of changed files."""
    rest = []
    for text in said:
        try:
            answer = json.loads(text)
        except ValueError:
            rest.append(text)
            continue
        rest.append(json.dumps({key: value for key, value in answer.items() if key != "results"}))
    return "\n".join(rest)


def short(why):
    """The messages of tests without unittest's prefixes and without texts of whole files."""
    return re.sub(r"AssertionError: (?:\w+ is not \w+ : )?", "", re.sub(r" found in ['\"{][^;]*", " found", why))[:160]


def do(name, commands, files, kept):
    """Runs the commands in a copy of the task's repository, and the tests before and after."""
    test = files / "tests" / name
    with tempfile.TemporaryDirectory(prefix="refactor-") as place:
        root = pathlib.Path(place) / "repository"
        shutil.copytree(files / "repositories" / name.split("/")[0], root, symlinks=True)
        support.run(["git", "init", "-q"], root, check=True)
        beside = root / "refactorbench-tests"
        beside.mkdir()
        before = failures(test, beside)
        if not before:
            return {"outcome": "vacuous", "why": "its tests do not run, or pass before the change"}
        beside.rmdir()
        said, refused = [], ""
        for words in commands:
            done = support.run([support.PROGRAM, "--workspace", root, "--timeout", "180", "--format", "json", *words, "--no-diagnostics"], root,
                               env=support.parity.environment())
            said.append(done.stdout or done.stderr)
            if done.returncode not in (0, 1):
                refused = re.sub(r"\s+", " ", done.stderr or done.stdout)[:200]
        (kept / f"{name.replace('/', '+')}.txt").write_text("\n".join(said))
        beside.mkdir()
        after = failures(test, beside)
    if after is None:
        return {"outcome": "fail", "why": "the tests do not run"}
    there = files / "repositories" / name.split("/")[0]
    left = sorted({path for _, paths, _ in after for path in paths if (there / path).is_file()})
    answer = beside_changes(said)
    unnamed = [path for path in left if path not in answer]
    outcome = "pass" if not after else "named" if left and not unnamed else "fail"
    return {"outcome": outcome, "left": left, "unnamed": unnamed, "why": refused or "; ".join(f"{test}: {message}" for test, _, message in after[:2])}


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
                    result = do(name, commands, files, kept)
                except subprocess.TimeoutExpired:
                    result = {"outcome": "fail", "why": "a command took longer than its deadline"}
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
        misses = [[name, result["outcome"], ", ".join(result.get("unnamed", [])) or "-", short(result["why"])]
                  for (_, name), result in results.items() if result["outcome"] != "pass"]
        text = (f"[{REPOSITORY}](https://github.com/{REPOSITORY}), {commit}, with {chosen.server} of `lsp-tools install`. A task passes by the "
                f"benchmark's tests; it is named if the answer has every file that failing tests ask for, beside those that it changed.\n\n")
        head = ["task", "outcome", "files that the answer does not name", "first failures"]
        support.record(support.REFACTORINGS, text + support.table(["tasks", "number", "pass", "named", "fail"], rows) + "\n\n" + support.table(head, misses))
    return 0 if results else 1
