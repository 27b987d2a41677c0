"""Compares `lsp-tools check` with the command lines of the tools that a project pins, finding by finding.

`just parity [--only WORDS]`. Each cell is a project with one version of one tool, installed as its users install it. The tool's
own command line is run in a copy of the project; both sides are compared by file, line and rule. A cell is wrong if the answer is
`complete` and differs. The table is
`bench/results/parity.csv`; rows of cells that do not run stay. What is installed stays in `target/bench/parity`.
"""

import argparse
import collections
import csv
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = ROOT / "target/bench/parity"
PROGRAM = pathlib.Path(os.environ.get("LSP_TOOLS", ROOT / "target/release/lsp-tools"))

SCRIPT = """export interface O { a?: string; b: number }
function f(x) { return x.y }
export function g(o: O): string { return o.a.length + f(o) }
export const n: number = 'x';
export const list: string[] = []; export const first: string = list[0];
import data from './data.json';
export const size = data.size.missing;
"""
USER = "import { g } from './c';\nexport const v: number = g({ b: 'no' });\n"
BASIC = {"src/c.ts": SCRIPT, "src/d.ts": USER, "src/data.json": '{"size": 1}\n'}


def json_text(value):
    return json.dumps(value, indent=1) + "\n"


def scripts(options=None):
    files = dict(BASIC)
    if options is not None:
        files["tsconfig.json"] = json_text({"compilerOptions": options, "include": ["src"]})
    return files


def references():
    options = {"composite": True, "outDir": "out", "strict": True, "rootDir": "."}
    project = lambda *to: json_text({"compilerOptions": options, "references": [{"path": path} for path in to]})
    return {
        "tsconfig.json": json_text({"files": [], "references": [{"path": "core"}, {"path": "app"}]}),
        "core/tsconfig.json": project(), "app/tsconfig.json": project("../core"),
        "core/index.ts": "export function add(a: number, b: number) { return a + b }\n",
        "app/index.ts": "import { add } from '../core/index';\nexport const sum: number = add(1, 'b');\n",
    }


def workspaces():
    package = lambda name, **more: json_text({"name": name, "version": "1.0.0", "main": "index.ts", "types": "index.ts", **more})
    options = json_text({"compilerOptions": {"strict": True, "module": "esnext", "moduleResolution": "node"}})
    modern = json_text({"compilerOptions": {"strict": True, "module": "esnext", "moduleResolution": "bundler"}})
    return {
        "packages/a/package.json": package("a"), "packages/b/package.json": package("b", dependencies={"a": "1.0.0"}),
        "packages/a/tsconfig.json": (options, modern), "packages/b/tsconfig.json": (options, modern),
        "packages/a/index.ts": "export function twice(n: number) { return n * 2 }\nexport const wrong: string = twice(1);\n",
        "packages/b/index.ts": "import { twice } from 'a';\nexport const s: string = twice('x');\n",
    }


# Name, files, and the command lines: words after `tsc`.
SHAPES = [
    ("no tsconfig", scripts(), [["--noEmit", "src/c.ts", "src/d.ts"]]),
    ("default", scripts({}), [["--noEmit", "-p", "."]]),
    ("strict", scripts({"strict": True, "noUncheckedIndexedAccess": True}), [["--noEmit", "-p", "."]]),
    ("references", references(), [["-b"]]),
    ("workspaces", workspaces(), [["--noEmit", "-p", "packages/a"], ["--noEmit", "-p", "packages/b"]]),
]

PYTHON = {
    "pyproject.toml": '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.9"\n',
    "a.py": "import os\nimport json\n\n\ndef f(x: int) -> str:\n    y = 1\n    return x\n\n\nprint(f('a'), undefined, f'x')\nx: int = None\n",
    "b.py": "from a import f, missing\nfrom typing import List\n\nv: List[int] = [f(1)]\nif v == None: pass\n",
}
CELLS = ["import os\n", "import json\nprint(undefined)\n", "x: int = 'a'\n"]
NOTEBOOK = json_text({
    "cells": [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell, "id": str(number)}
              for number, cell in enumerate(CELLS)],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "nbformat": 4, "nbformat_minor": 5,
})
WEB = {
    "package.json": json_text({"name": "p", "type": "module"}),
    "a.js": "var x = 1;\nif (x == 2) { debugger; }\nexport const y = () => { let z = 3; return x; };\nundefinedCall();\n",
}
ESLINT = 'export default [{ rules: { "no-undef": "error", "prefer-const": "warn", eqeqeq: "error", "no-debugger": "error" } }];\n'


def run(words, folder, check=False, **more):
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=900, **more)
    if check and done.returncode:
        sys.exit(f"{words}: {done.stdout}{done.stderr}")
    return done


def environment():
    rest = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "NODE_PATH")}
    folders = {name: str(KEPT / name.lower()) for name in ("DATA", "STATE", "CACHE", "CONFIG")}
    return {**rest, "LSP_TOOLS_NO_DAEMON": "1", **{f"LSP_TOOLS_{name}_DIR": folder for name, folder in folders.items()}}


def ours(words, folder):
    return run([PROGRAM, *words], folder, env=environment())


def of_npm(package, version):
    """The folder with `node_modules` that has this version."""
    folder = KEPT / "npm" / f"{package.replace('/', '+')}@{version}"
    if not (folder / "node_modules").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", f"{package}@{version}"], folder, check=True)
    return folder


def of_pip(package, version):
    folder = KEPT / "pip" / f"{package}@{version}"
    if not (folder / "made").is_file():
        run([sys.executable, "-m", "venv", folder], KEPT, check=True)
        run([folder / "bin/pip", "install", "-q", f"{package}=={version}"], folder, check=True)
        (folder / "made").write_text("")
    return folder


def install(name):
    """Brings a server to the product, once."""
    mark = KEPT / "installed" / name.replace("/", "+")
    if not mark.is_file():
        done = ours(["install", name], KEPT)
        if done.returncode:
            sys.exit(f"install {name}: {done.stdout}{done.stderr}")
        mark.parent.mkdir(exist_ok=True)
        mark.write_text("")


def make(folder, files, major=0):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two texts: for versions before 6, and since.
        path.write_text(text if isinstance(text, str) else text[major >= 6])


def compare(case, project, line):
    """Runs both sides; `line` gives the findings of the command line in a copy of the project."""
    # Nothing above the project belongs to it.
    run(["git", "init", "-q"], project, check=True)
    copy = project.with_name("copy")
    shutil.copytree(project, copy, symlinks=True)
    expected = line(copy)
    (KEPT / "config").mkdir(exist_ok=True)
    (KEPT / "config/lsp-tools.toml").write_text(case.get("settings", ""))
    if case.get("trust"):
        ours(["trust", "--yes"], project)
    done = ours(["--timeout", "180", "--format", "json", "check", "--limit", "100000", *case.get("paths", [])], project)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{case['name']}: {done.stdout}{done.stderr}")
    found = collections.Counter()
    for item in answer.get("diagnostics", []):
        if item["server"] in case["servers"]:
            found[finding(case, item["path"], int(item["at"].split(":")[0]), str(item.get("code", "")))] += 1
    verdict = answer.get("verdict") or answer.get("code", "error")
    reasons = {why for file in answer.get("incomplete", []) for why in [file.get("why", "")]} or set(answer.get("notes", []))
    if expected is None:
        # The command line refuses the configuration.
        same = verdict != "complete"
        differences = [] if same else ["the command line refuses the configuration"]
    else:
        wanted = collections.Counter(finding(case, *one) for one in expected)
        differences = [f"only the command line: {one}" for one in (wanted - found)] + [f"only check: {one}" for one in (found - wanted)]
    shutil.rmtree(copy)
    return {"name": case["name"], "verdict": verdict, "count": sum(found.values()), "differences": differences,
            "reason": " / ".join(sorted(reasons))[:200], "refused": expected is None}


def finding(case, path, line, rule):
    # Cells of a notebook are counted in other ways by each tool.
    return (path, rule) if path.endswith(".ipynb") else (path, line, rule.replace("lint/", "").removeprefix("TS"))


def typescript(folder, version, files, lines):
    node = of_npm("typescript", version)
    def line(copy):
        found, refused = collections.Counter(), False
        for words in lines:
            done = run(["node", copy / "node_modules/typescript/bin/tsc", *words, "--pretty", "false"], copy)
            said = done.stdout + done.stderr
            refused |= bool(re.search(r"^(tsconfig[^(]*\(.*\): )?error TS(5|18)\d\d\d:", said, re.M))
            # Two projects may report the same file.
            places = re.findall(r"^(\S+)\((\d+),\d+\): error TS(\d+)", said, re.M)
            found |= collections.Counter((path, int(row), rule) for path, row, rule in places)
        return None if refused else found.elements()
    project = folder / "project"
    make(project, {"package.json": json_text({"name": "p", "version": "1.0.0"}), **files}, int(version.split(".")[0]))
    if "packages/a/package.json" in files:
        make(project, {"package.json": json_text({"name": "p", "workspaces": ["packages/*"]})})
    run(["cp", "-al", node / "node_modules", project / "node_modules"], folder, check=True)
    if "packages/a/package.json" in files:
        (project / "node_modules/a").symlink_to("../packages/a")
    return project, line


def json_findings(words, folder, items):
    done = run(words, folder)
    try:
        return items(json.loads(done.stdout))
    except ValueError:
        return None


def inside(folder, path):
    path = str(path).removeprefix("file://")
    return path.removeprefix(str(folder.resolve()) + "/").removeprefix(str(folder) + "/")


def ruff(tool):
    return lambda copy: json_findings([tool / "bin/ruff", "check", "--no-cache", "--exclude", ".venv", "--output-format", "json"], copy, lambda all: [
        (inside(copy, one["filename"]), one["location"]["row"], one["code"] or "invalid-syntax") for one in all])


def ty(tool):
    words = [tool / "bin/ty", "check", "--output-format", "gitlab"]
    return lambda copy: json_findings(words, copy, lambda all: [
        (inside(copy, one["location"]["path"]), one["location"]["positions"]["begin"]["line"], one["check_name"]) for one in all])


def pyright(words):
    def line(copy):
        return json_findings([*words, "--outputjson"], copy, lambda all: None if bad(all) else [
            (inside(copy, one["file"]), one["range"]["start"]["line"] + 1, one.get("rule", "")) for one in all["generalDiagnostics"]])
    bad = lambda all: any(not one.get("file") for one in all["generalDiagnostics"])
    return line


def biome(node):
    def line(copy):
        done = run([node / "node_modules/.bin/biome", "lint", "--reporter=github", "--max-diagnostics=none"], copy)
        if "configuration" in done.stderr and "error" in done.stderr.lower() and not done.stdout.strip():
            return None
        return [(path.removeprefix("./"), int(row), rule) for rule, path, row in
                re.findall(r"^::\w+ title=(\S+?),file=([^,]+),line=(\d+)", done.stdout, re.M)]
    return line


def eslint(node):
    words = ["node", node / "node_modules/eslint/bin/eslint.js", "--format", "json", "."]
    return lambda copy: json_findings(words, copy, lambda all: [
        (inside(copy, file["filePath"]), one["line"], one["ruleId"]) for file in all for one in file["messages"]])


def cells():
    """Every case: its name, the servers whose findings count, and a function that makes its project."""
    for version in ["4.9.5", "5.0.4", "5.4.5", "5.9.3", "6.0.3", "7.0.2"]:
        for shape, files, lines in SHAPES + [
            ("broken: extends", {**BASIC, "tsconfig.json": '{"extends": "./nowhere.json"}'}, [["--noEmit", "-p", "."]]),
            ("broken: option", scripts({"strct": True}), [["--noEmit", "-p", "."]]),
        ]:
            yield {"name": f"typescript {version}, {shape}", "servers": ["tsc", "typescript-language-server"],
                   "install": f"typescript@{version}", "make": lambda at, v=version, f=files, l=lines: typescript(at, v, f, l)}
    for tool, versions, line in [
        ("ruff", ["0.5.7", "0.9.3", "0.12.0", "0.17.6"], ruff),
        ("ty", ["0.0.100", "0.0.105"], ty),
        ("basedpyright", ["1.36.0", "1.40.2"], lambda tool: pyright([tool / "bin/basedpyright"])),
    ]:
        configurations = {
            "ruff": {"configured": {"ruff.toml": 'select = ["E", "F", "I"]\n'}, "broken": {"ruff.toml": "selct = ['E']\n"}},
            "ty": {"configured": {"ty.toml": '[rules]\ninvalid-assignment = "ignore"\n'}, "broken": {"ty.toml": "[nonsense]\na = 1\n"}},
            "basedpyright": {"configured": {"pyrightconfig.json": '{"typeCheckingMode": "standard"}'}, "broken": {"pyrightconfig.json": "{bad"}},
        }[tool]
        for version in versions:
            for shape, more in [("default", {}), ("notebook", {"n.ipynb": NOTEBOOK}), *configurations.items()]:
                def made(at, tool=tool, version=version, more=more, line=line):
                    make(at / "project", {**PYTHON, **more})
                    kept = of_pip(tool, version)
                    run(["cp", "-al", kept, at / "project/.venv"], at, check=True)
                    return at / "project", line(kept)
                yield {"name": f"{tool} {version}, {shape}", "servers": [tool], "install": f"{tool}@{version}", "make": made,
                       "settings": f'prefer.python = ["{tool}"]\n', "paths": ["."]}
    for package, server, versions, line, config in [
        ("pyright", "pyright", ["1.1.390", "1.1.414"], lambda node: pyright(["node", node / "node_modules/pyright/index.js"]), {
            "default": {}, "configured": {"pyrightconfig.json": '{"typeCheckingMode": "strict"}'}, "notebook": {"n.ipynb": NOTEBOOK},
            "broken": {"pyrightconfig.json": "{bad"}}),
        ("@biomejs/biome", "biome", ["2.0.0", "2.6.8"], biome, {
            "default": {"biome.json": "{}"}, "configured": {"biome.json": '{"linter": {"rules": {"suspicious": {"noDebugger": "off"}}}}'},
            "broken": {"biome.json": '{"lintr": {}}'}}),
        ("eslint", "eslint", ["8.57.1", "9.39.1"], eslint, {
            "default": {"eslint.config.js": ESLINT}, "broken": {"eslint.config.js": "export default [{ rules: { nosuch: 3 } }];\n"}}),
    ]:
        for version in versions:
            for shape, more in config.items():
                def made(at, package=package, version=version, more=more, line=line, server=server):
                    make(at / "project", {**(PYTHON if server == "pyright" else WEB), **more})
                    node = of_npm(package, version)
                    run(["cp", "-al", node / "node_modules", at / "project/node_modules"], at, check=True)
                    return at / "project", line(node)
                language = "python" if server == "pyright" else None
                yield {"name": f"{server} {version}, {shape}", "servers": [server], "make": made, "trust": server == "eslint",
                       "install": "eslint" if server == "eslint" else f"{package}@{version}",
                       "settings": f'prefer.{language} = ["{server}"]\n' if language else "", "paths": ["."]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a regular expression that names of cells must match")
    chosen = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    rows = []
    for case in cells():
        if not re.search(chosen.only, case["name"]):
            continue
        install(case["install"])
        with tempfile.TemporaryDirectory(dir=KEPT, prefix="cell-") as folder:
            project, line = case["make"](pathlib.Path(folder))
            row = compare(case, project, line)
        rows.append(row)
        print(f"{row['name']}: {row['verdict']}, {len(row['differences'])} differences {row['differences'][:4]} {row['reason']}", flush=True)
    results = ROOT / "bench/results/parity.csv"
    kept = {row[0]: row for row in csv.reader(results.open()) if len(row) == 5} if results.exists() else {}
    for row in rows:
        note = "; ".join(map(str, row["differences"][:3])) or ("" if row["verdict"] == "complete" else row["reason"])
        outcome = "differs" if row["differences"] else "refused" if row["refused"] else "equal"
        kept[row["name"]] = [row["name"], str(row["count"]), outcome, row["verdict"], note]
    table = [kept[case["name"]] for case in cells() if case["name"] in kept]
    count = lambda *wanted: sum(tuple(row[2:4]) == wanted for row in table)
    equal = sum(row[2] == "equal" for row in table)
    wrong = count("differs", "complete") + count("refused", "complete")
    summary = f"{len(table)} cells, {wrong} falsely complete, {equal} equal, of which {count('equal', 'complete')} complete"
    print(summary)
    results.parent.mkdir(exist_ok=True)
    with results.open("w", newline="") as file:
        file.write(f"# {datetime.date.today()}: {summary}\n")
        lines = csv.writer(file, lineterminator="\n")
        lines.writerows([["cell", "findings", "command line", "verdict", "difference or reason"], *table])
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
