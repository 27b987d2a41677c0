"""The plain alternative to `lsp-tools tests`: every file that imports the edited one, directly or through other files.

Python's imports are read with `ast` anywhere in a file, those of JavaScript and TypeScript by imports.cjs. Like in pytest, a test file
loads the `conftest.py` of its folder and of those above. A package's `__init__.py` counts if an import names the package, but not if it
names a module in it, which selects fewer files.
"""

import ast
import json
import time
from pathlib import Path, PurePosixPath

from work_tree import run


def files_reaching(imports, folder, file):
    """The files that import `file` by `imports`, and the seconds that reading and following all imports took."""
    began = time.monotonic()
    importers = {}
    for importer, imported in imports(folder).items():
        for one in imported:
            importers.setdefault(one, set()).add(importer)
    found, waiting = set(), [file]
    while waiting:
        new = importers.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found, time.monotonic() - began


def of_python(folder, files):
    """The files among `files` that each of them imports."""
    known = set(files)
    # The import roots: the folder itself, `src`, and, by pytest's rule, the folder around the outermost package of a file.
    roots = {(), ("src",)} | {around_packages(known, file) for file in files}
    found = {}
    for file in files:
        modules = set()
        for node in ast.walk(ast.parse((folder / file).read_text())):
            if isinstance(node, ast.Import):
                modules |= {(*root, *alias.name.split(".")) for alias in node.names for root in roots}
            elif isinstance(node, ast.ImportFrom):
                starts = {PurePosixPath(file).parts[: -node.level]} if node.level else roots
                bases = {(*start, *filter(None, (node.module or "").split("."))) for start in starts}
                modules |= bases | {(*base, alias.name) for base in bases for alias in node.names}
        parts = PurePosixPath(file).parts
        imported = {"/".join(module) + ending for module in modules for ending in (".py", "/__init__.py")}
        if parts[-1].startswith("test_") or parts[-1].endswith("_test.py"):
            imported |= {"/".join([*parts[:depth], "conftest.py"]) for depth in range(len(parts))}
        found[file] = (imported & known) - {file}
    return found


def around_packages(known, file):
    folder = PurePosixPath(file).parts[:-1]
    while folder and "/".join([*folder, "__init__.py"]) in known:
        folder = folder[:-1]
    return folder


def of_script(folder, files, typescript):
    """The files that each of `files` imports."""
    return json.loads(run("node", Path(__file__).with_name("imports.cjs"), typescript, *files, cwd=folder).stdout)
