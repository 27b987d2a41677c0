"""Python's typing conformance tests: `check` of their folder compared with each server's own command line, by file, line and rule.

The claim is equality with the command line of the same version, not conformance. The comparison is that of `just parity`.
"""

import pathlib
import re
import shutil
import tempfile
import tomllib

import support

REPOSITORY, PLACE = "python/typing", "conformance/tests"
parity = support.parity


def pyrefly(tool):
    # By default, the command line shows only errors; the server shows all severities.
    words = [tool / "bin/pyrefly", "check", "--output-format", "json", "--min-severity", "info"]
    return lambda copy: parity.json_findings(words, copy, lambda all: [
        (parity.inside(copy, one["path"]), one["line"], one["name"]) for one in all["errors"]])


def of_node(node):
    return parity.pyright(["node", node / "node_modules/pyright/index.js"])


# The installation and the output parser of each server's own command line.
SERVERS = {
    "pyright": (parity.of_npm, of_node),
    "basedpyright": (parity.of_pip, lambda tool: parity.pyright([tool / "bin/basedpyright"])),
    "ty": (parity.of_pip, parity.ty),
    "pyrefly": (parity.of_pip, pyrefly),
}

# Accepted differences, by server and text of the difference.
REASONS = [
    ("ty", "only the command line: ('generics_scoping.py', 76, 'shadowed-type-variable')",
     "ty reports the same finding twice at the same place; `check` shows it once"),
]


def pinned(server):
    """The version that `lsp-tools install` installs, from the catalogue."""
    install = tomllib.loads((support.ROOT / "servers.toml").read_text())["server"][server]["install"]
    [package] = [package for packages in (install.get("pip", []), install.get("npm", [])) for package in packages
                 if re.split("==|@", package)[0] == server]
    return re.split("==|@", package)[1]


def main(chosen):
    files, commit = support.source(REPOSITORY, chosen.given, [PLACE])
    rows, wrong, details = [], [], []
    for server, (bring, line) in SERVERS.items():
        if not re.search(chosen.only, server):
            continue
        version = pinned(server)
        parity.install(server)
        with tempfile.TemporaryDirectory(dir=parity.KEPT, prefix="typing-") as folder:
            project = pathlib.Path(folder) / "project"
            shutil.copytree(files / PLACE, project)
            # A project's pyrefly.toml may name a program, so it applies only to a trusted project.
            case = {"name": server, "servers": [server], "settings": f'prefer.python = ["{server}"]\n', "paths": ["."], "trust": True}
            row = parity.compare(case, project, line(bring(server, version)))
        differences = row["differences"]
        print(f"{server} {version}: {row['count']} findings, verdict {row['verdict']}, {len(differences)} differences", *differences[:40], row["reason"],
              sep="\n  ", flush=True)
        if row["refused"]:
            differences = ["the command line does not run"]
        rows.append([f"{server} {version}", row["count"], row["verdict"], len(differences)])
        known = {words: reason for name, words, reason in REASONS if name == server}
        details += [f"- {server}, {one}{': ' + known[one] if one in known else ''}" for one in differences]
        wrong += [one for one in differences if one not in known and row["verdict"] == "complete"]
    tests = len(list((files / PLACE).glob("*.py")))
    if not chosen.only:
        text = f"[{REPOSITORY}](https://github.com/{REPOSITORY}), {commit}: {tests} test files, each finding compared by file, line and rule.\n\n"
        table = support.table(["server", "findings", "verdict", "differences"], rows)
        support.record(support.FINDINGS, text + table + ("\n\n" + "\n".join(details[:60]) if details else ""))
    return 1 if wrong or not rows else 0
