"""Compares `lsp-tools check` with the command lines of the tools that a project pins, finding by finding.

`just parity [--only WORDS]`. Each cell is a project with one version of one tool, installed as users install it. The tool's
own command line runs in a copy of the project; the findings are compared by file, line and rule. A cell is wrong if the answer is
`complete` and differs. The table is `bench/results/parity.csv`; rows of cells that do not run are kept. Installed tools stay in
`target/bench/parity`.
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


# Name, files, and command lines as arguments of `tsc`.
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
CARGO = '[package]\nname = "p"\nversion = "0.1.0"\n'
RUST = {"src/lib.rs": "pub fn f(x: i32) -> String {\n    x\n}\n\nfn unused() {}\n"}
GO_MOD = "module example.com/p\n\ngo 1.21\n"
GO = {"a.go": 'package p\n\nfunc F(x int) string {\n\treturn x\n}\n'}
C = {"a.c": "int half(int x) { return y / 2; }\n"}
ESLINT = 'export default [{ rules: { "no-undef": "error", "prefer-const": "warn", eqeqeq: "error", "no-debugger": "error" } }];\n'

# Servers of the other languages in a cell's project.
BESIDE = {"biome": ["typescript", "json"], "eslint": ["typescript"], "pyright": ["json", "toml"], "basedpyright": ["json", "toml"]}


# Broken or unusual configurations by file name; `None` stands for a folder of that name.
BROKEN_JSON = {
    "syntax error": "{bad", "empty file": "", "directory": None,
}
BROKEN = {
    "typescript": ("tsconfig.json", {
        **BROKEN_JSON, "byte order mark": '\ufeff{"compilerOptions": {"strict": true}, "include": ["src"]}',
        "unknown key": '{"compilerOptions": {"strct": true}}', "wrong type": '{"compilerOptions": {"strict": "yes"}}',
        "missing extends": '{"extends": "./nowhere.json"}', "circular extends": '{"extends": "./tsconfig.json"}',
        "missing package": '{"extends": "nosuch-package/tsconfig.json"}',
        "missing plugin": '{"compilerOptions": {"plugins": [{"name": "nosuch-plugin"}]}}',
        "missing types": '{"compilerOptions": {"types": ["nosuch"]}}', "unknown value": '{"compilerOptions": {"target": "es1999"}}',
        "no inputs": '{"include": ["nowhere"]}', "missing reference": '{"references": [{"path": "./nowhere"}]}',
    }),
    "ruff": ("ruff.toml", {
        "syntax error": "[lint\n", "empty file": "", "directory": None, "byte order mark": '\ufefflint.select = ["E", "F"]\n',
        "unknown key": "selct = ['E']\n", "wrong type": 'line-length = "x"\n', "missing extends": 'extend = "nowhere.toml"\n',
        "circular extends": 'extend = "ruff.toml"\n', "missing rule": 'lint.select = ["NOSUCH1"]\n',
        "required version": 'required-version = ">=99"\n', "unknown value": 'target-version = "py99"\n',
        "bad pattern": 'exclude = ["["]\n',
    }),
    "ty": ("ty.toml", {
        "syntax error": "[rules\n", "empty file": "", "directory": None,
        "byte order mark": '\ufeff[rules]\ninvalid-assignment = "ignore"\n', "unknown key": "[nonsense]\na = 1\n",
        "wrong type": "[rules]\ninvalid-assignment = 3\n", "missing environment": '[environment]\npython = "nowhere"\n',
        "unknown value": '[environment]\npython-version = "9.9"\n', "missing rule": '[rules]\nnosuch = "error"\n',
        "bad pattern": '[src]\ninclude = ["[" ]\n', "missing root": '[environment]\nroot = ["nowhere"]\n',
    }),
    "pyright": ("pyrightconfig.json", {
        **BROKEN_JSON, "byte order mark": '\ufeff{"typeCheckingMode": "strict"}', "unknown key": '{"nosuch": 1}',
        "wrong type": '{"reportMissingImports": 3}', "missing extends": '{"extends": "./nowhere.json"}',
        "circular extends": '{"extends": "./pyrightconfig.json"}', "missing environment": '{"venvPath": ".", "venv": "nowhere"}',
        "unknown value": '{"typeCheckingMode": "severe"}', "unknown version": '{"pythonVersion": "x"}',
        "missing include": '{"include": ["nowhere"]}',
    }),
    "biome": ("biome.json", {
        **BROKEN_JSON, "byte order mark": '\ufeff{"linter": {"rules": {"suspicious": {"noDebugger": "off"}}}}',
        "unknown key": '{"lintr": {}}', "wrong type": '{"linter": 3}', "missing extends": '{"extends": ["./nowhere.json"]}',
        "circular extends": '{"extends": ["./biome.json"]}', "missing plugin": '{"plugins": ["./nowhere.grit"]}',
        "other version": '{"$schema": "https://biomejs.dev/schemas/1.0.0/schema.json"}',
        "missing rule": '{"linter": {"rules": {"suspicious": {"nosuch": "error"}}}}',
    }),
    "eslint": ("eslint.config.js", {
        "syntax error": "export default [{\n", "empty file": "", "directory": None, "byte order mark": "\ufeff" + ESLINT,
        "unknown key": "export default [{ nosuch: 1 }];\n", "wrong type": 'export default [{ rules: { eqeqeq: "nosuch" } }];\n',
        "missing import": 'import rules from "./nowhere.js";\nexport default [rules];\n',
        "circular import": 'import own from "./eslint.config.js";\nexport default [own];\n',
        "missing plugin": 'export default [{ rules: { "nosuch/rule": "error" } }];\n',
        "missing package": 'import plugin from "eslint-plugin-nosuch";\nexport default [{ plugins: { plugin } }];\n',
        "missing rule": 'export default [{ rules: { nosuch: "error" } }];\n',
    }),
    "rust-analyzer": ("Cargo.toml", {
        "syntax error": "[package\n", "empty file": "", "directory": None, "byte order mark": "\ufeff" + CARGO,
        "unknown key": CARGO + "nosuch = 1\n", "wrong type": CARGO + "edition = 3\n", "unknown value": CARGO + 'edition = "1999"\n',
        "missing path": CARGO + '[dependencies]\nb = { path = "nowhere" }\n', "required version": CARGO + 'rust-version = "9.0"\n',
        "circular path": CARGO + '[dependencies]\np = { path = "." }\n',
        "missing target": CARGO + '[[bin]]\nname = "b"\npath = "src/nowhere.rs"\n', "missing feature": CARGO + '[features]\na = ["b"]\n',
    }),
    "gopls": ("go.mod", {
        "syntax error": "modul example.com/p\n", "empty file": "", "directory": None, "byte order mark": "\ufeff" + GO_MOD,
        "unknown key": GO_MOD + "nosuch x\n", "wrong type": "module example.com/p\n\ngo abc\n",
        "missing path": GO_MOD + "require example.com/q v1.0.0\nreplace example.com/q => ./nowhere\n",
        "bad version": GO_MOD + "require example.com/q latest\n", "no module": "go 1.21\n",
        "twice": GO_MOD + "module example.com/q\n",
    }),
    "clangd": ("compile_commands.json", {
        **BROKEN_JSON, "byte order mark": "\ufeff[]", "wrong type": '{"file": "a.c"}', "no entries": "[]",
        "entry without file": '[{"directory": "."}]', "entry of another file": '[{"directory": "/", "file": "b.c", "command": "cc -c b.c"}]',
        "missing folder": '[{"directory": "/nowhere", "file": "a.c", "command": "cc -c a.c"}]',
    }),
}


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
    """The folder whose `node_modules` has this version."""
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
    """Installs a server with the product, once."""
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
        if text is None:
            path.mkdir()
            continue
        # A pair has the texts for versions before 6 and since 6.
        path.write_text(text if isinstance(text, str) else text[major >= 6], encoding="utf-8")


def compare(case, project, line):
    """Runs both sides; `line` returns the findings of the command line in a copy of the project."""
    # Makes the project a repository, so that nothing above it belongs to it.
    run(["git", "init", "-q"], project, check=True)
    copy = project.with_name("copy")
    shutil.copytree(project, copy, symlinks=True)
    expected = line(copy)
    (KEPT / "config").mkdir(exist_ok=True)
    (KEPT / "config/lsp-tools.toml").write_text(case.get("settings", ""))
    if case.get("trust"):
        ours(["trust", "--yes"], project)
    done = ours(["--timeout", case.get("timeout", "180"), "--format", "json", "check", "--no-store", "--limit", "100000", *case.get("paths", [])], project)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{case['name']}: {done.stdout}{done.stderr}")
    found = collections.Counter()
    for item in answer.get("diagnostics", []):
        if item["server"] in case["servers"] and item["path"].endswith(case.get("only", "")):
            found[finding(case, item["path"], int(item["at"].split(":")[0]), str(item.get("code", "")))] += 1
    if case.get("once"):
        # The server also finds by itself the errors of the compiler that it runs.
        found = collections.Counter(set(found))
    verdict = answer.get("verdict") or answer.get("code", "error")
    reasons = {why for file in answer.get("incomplete", []) for why in [file.get("detail", "")]} or set(answer.get("notes", []))
    if expected is None:
        # The command line rejects the configuration or warns about it.
        same = verdict != "complete"
        differences = [] if same else ["the command line refuses the configuration"]
    else:
        wanted = collections.Counter(finding(case, *one) for one in expected)
        differences = [f"only the command line: {one}" for one in (wanted - found)] + [f"only check: {one}" for one in (found - wanted)]
    shutil.rmtree(copy)
    return {"name": case["name"], "verdict": verdict, "count": sum(found.values()), "differences": differences,
            "reason": " / ".join(sorted(reasons))[:200], "refused": expected is None}


def finding(case, path, line, rule):
    # Each tool numbers the cells of a notebook differently.
    if not case.get("codes", True):
        return path, line
    return (path, rule) if path.endswith(".ipynb") else (path, line, rule.replace("lint/", "").removeprefix("TS"))


def typescript(folder, version, files, lines):
    node = of_npm("typescript", version)
    def line(copy):
        found, refused = collections.Counter(), False
        for words in lines:
            done = run(["node", copy / "node_modules/typescript/bin/tsc", *words, "--pretty", "false"], copy)
            said = done.stdout + done.stderr
            refused |= bool(re.search(r"^(\S*tsconfig[^(]*\(.*\): )?error TS\d+:", said, re.M))
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
    return lambda copy: json_findings([tool / "bin/ruff", "check", "--no-cache", "--output-format", "json"], copy, lambda all: [
        (inside(copy, one["filename"]), one["location"]["row"], one["code"] or "invalid-syntax") for one in all])


def ty(tool):
    words = [tool / "bin/ty", "check", "--output-format", "gitlab"]
    return lambda copy: json_findings(words, copy, lambda all: [
        (inside(copy, one["location"]["path"]), one["location"]["positions"]["begin"]["line"], one["check_name"]) for one in all])


def pyright(words):
    def line(copy):
        # After a complaint, which its JSON leaves out, it continues with defaults.
        said = run(words, copy)
        if re.search(r"^(Config|Pyproject) .*(could not|unrecognized|must|invalid|not supported|does not)", said.stdout + said.stderr, re.M):
            return None
        return json_findings([*words, "--outputjson"], copy, lambda all: None if bad(all) else [
            (inside(copy, one["file"]), one["range"]["start"]["line"] + 1, one.get("rule", "")) for one in all["generalDiagnostics"]])
    bad = lambda all: any(not one.get("file") for one in all["generalDiagnostics"])
    return line


def biome(node):
    def line(copy):
        done = run([node / "node_modules/.bin/biome", "lint", "--reporter=github", "--max-diagnostics=none"], copy)
        if "configuration" in done.stderr and "error" in done.stderr.lower() and not done.stdout.strip():
            return None
        return [(inside(copy, path.removeprefix("./")), int(row), rule) for rule, path, row in
                re.findall(r"^::\w+ title=(\S+?),file=([^,]+),line=(\d+)", done.stdout, re.M)]
    return line


def eslint(node):
    words = ["node", node / "node_modules/eslint/bin/eslint.js", "--format", "json", "."]
    return lambda copy: json_findings(words, copy, lambda all: [
        (inside(copy, file["filePath"]), one["line"], one["ruleId"]) for file in all for one in file["messages"]])


def cargo(copy):
    found = []
    done = run(["cargo", "check", "--offline", "--message-format", "json", "--all-targets"], copy)
    for text in done.stdout.splitlines():
        one = json.loads(text)
        if one["reason"] == "compiler-message":
            found += [(place["file_name"], place["line_start"], (one["message"]["code"] or {}).get("code", ""))
                      for place in one["message"]["spans"] if place["is_primary"]]
    # A test target repeats the findings.
    return sorted(set(found)) if '"reason":"build-finished"' in done.stdout else None


def go(copy):
    program = next((KEPT / "data/servers/gopls").glob("*/venv/bin/go"), "go")
    done = run([program, "vet", "./..."], copy, env={**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"})
    places = re.findall(r"^(?:vet: )?(?:\./)?(\S+\.go):(\d+):\d+: ", done.stderr, re.M)
    return [(path, int(row), "") for path, row in places] if places or not done.returncode else None


def clang(copy):
    if not (copy / "compile_commands.json").is_file():
        # A folder of that name is not a database: the file is compiled without flags.
        return [("a.c", 1, "undeclared_var_use")]
    try:
        entries = json.loads((copy / "compile_commands.json").read_text())
        folder = next(one["directory"] for one in entries if one["file"] == "a.c")
    except (OSError, ValueError, StopIteration, TypeError, KeyError):
        return None
    return [("a.c", 1, "undeclared_var_use")] if pathlib.Path(folder).is_dir() else None


def broken_cells():
    """Cases of broken configurations, with the tool versions that the catalogue installs."""
    def by_npm(package, line):
        def made(at, version, files):
            node = of_npm(package, version)
            make(at / "project", files)
            run(["cp", "-al", node / "node_modules", at / "project/node_modules"], at, check=True)
            return at / "project", line(node)
        return made
    def by_pip(package, line):
        def made(at, version, files):
            kept = of_pip(package, version)
            make(at / "project", files)
            run(["cp", "-al", kept, at / "project/.venv"], at, check=True)
            return at / "project", line(kept)
        return made
    def alone(line):
        def made(at, version, files):
            make(at / "project", files)
            return at / "project", line
        return made
    of_pyright = lambda node: pyright(["node", node / "node_modules/pyright/index.js"])
    of_basedpyright = lambda tool: pyright([tool / "bin/basedpyright"])
    of_tsc = lambda at, version, files: typescript(at, version, files, [["--noEmit", "-p", "."]])
    for server, versions, base, made, broken in [
        ("typescript", ["5.9.3", "7.0.2"], BASIC, of_tsc, "typescript"),
        ("ruff", ["0.5.7", "0.17.6"], PYTHON, by_pip("ruff", ruff), "ruff"), ("ty", ["0.0.105"], PYTHON, by_pip("ty", ty), "ty"),
        ("pyright", ["1.1.414"], PYTHON, by_npm("pyright", of_pyright), "pyright"),
        ("basedpyright", ["1.40.2"], PYTHON, by_pip("basedpyright", of_basedpyright), "pyright"),
        ("biome", ["2.6.8"], WEB, by_npm("@biomejs/biome", biome), "biome"),
        ("eslint", ["9.39.1"], WEB, by_npm("eslint", eslint), "eslint"),
        ("rust-analyzer", [""], RUST, alone(cargo), "rust-analyzer"), ("gopls", [""], GO, alone(go), "gopls"),
        ("clangd", [""], C, alone(clang), "clangd"),
    ]:
        file, shapes = BROKEN[broken]
        package = {"biome": "@biomejs/biome"}.get(server, server)
        for version in versions:
            for shape, text in shapes.items():
                name = f"{server} {version}".strip()
                servers = ["tsc", "typescript-language-server"] if server == "typescript" else [server]
                yield {"name": f"{name}, broken: {shape}", "servers": servers, "trust": server in ("eslint", "rust-analyzer"),
                       "make": lambda at, v=version, f={**base, file: text}, m=made: m(at, v, f), "paths": [] if server == "typescript" else ["."],
                       "install": server if server == "eslint" or not version else f"{package}@{version}", "beside": BESIDE.get(server, []),
                       "settings": f'prefer.python = ["{server}"]\n' if base is PYTHON else "", "codes": server != "gopls", "timeout": "45",
                       "once": server == "rust-analyzer",
                       # The command line reports nothing in go.mod.
                       "only": ".go" if server == "gopls" else ""}


def cells():
    """Every case: its name, the servers whose findings count, and a function that creates its project."""
    for version in ["4.9.5", "5.0.4", "5.4.5", "5.9.3", "6.0.3", "7.0.2"]:
        for shape, files, lines in SHAPES:
            yield {"name": f"typescript {version}, {shape}", "servers": ["tsc", "typescript-language-server"],
                   "install": f"typescript@{version}", "make": lambda at, v=version, f=files, l=lines: typescript(at, v, f, l)}
    for tool, versions, line in [
        ("ruff", ["0.5.7", "0.9.3", "0.12.0", "0.17.6"], ruff),
        ("ty", ["0.0.100", "0.0.105"], ty),
        ("basedpyright", ["1.36.0", "1.40.2"], lambda tool: pyright([tool / "bin/basedpyright"])),
    ]:
        configurations = {
            "ruff": {"configured": {"ruff.toml": 'select = ["E", "F", "I"]\n'}},
            "ty": {"configured": {"ty.toml": '[rules]\ninvalid-assignment = "ignore"\n'}},
            "basedpyright": {"configured": {"pyrightconfig.json": '{"typeCheckingMode": "standard"}'}},
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
            "default": {}, "configured": {"pyrightconfig.json": '{"typeCheckingMode": "strict"}'}, "notebook": {"n.ipynb": NOTEBOOK}}),
        ("@biomejs/biome", "biome", ["2.0.0", "2.6.8"], biome, {
            "default": {"biome.json": "{}"}, "configured": {"biome.json": '{"linter": {"rules": {"suspicious": {"noDebugger": "off"}}}}'}}),
        ("eslint", "eslint", ["8.57.1", "9.39.1"], eslint, {
            "default": {"eslint.config.js": ESLINT}}),
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
                       "install": "eslint" if server == "eslint" else f"{package}@{version}", "beside": BESIDE.get(server, []),
                       "settings": f'prefer.{language} = ["{server}"]\n' if language else "", "paths": ["."]}
    yield from broken_cells()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a regular expression for the names of cells")
    chosen = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    rows = []
    for case in cells():
        if not re.search(chosen.only, case["name"]):
            continue
        for server in [case["install"], *case.get("beside", [])]:
            install(server)
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
