"""Python packages with their tests, and the tests that execute each function, by coverage.py with the test as the context of every line.

The packages are sdists from PyPI. A test is one function; it reaches a function if it executes a line of its body.
"""

import ast
import json
import os
import re
import shutil
import venv
from pathlib import Path

import closure
from work_tree import KEPT, git, run

SERVER = "pyright"
# Each package with its test dependencies besides pytest.
PACKAGES = {
    "itsdangerous==2.2.0": ["freezegun"],
    "click==8.1.7": [],
    "jinja2==3.1.4": ["markupsafe"],
    "more-itertools==10.5.0": [],
    "packaging==24.1": ["pretend"],
}


def test_id(test):
    """The coverage id of a test in an answer."""
    return f"{test['path']}::{test['name'].replace('.', '::')}" if "name" in test else test["path"]


def file_of(test):
    return test.split("::")[0]


def imports(folder):
    return closure.of_python(folder, [file for file in git(folder, "ls-files").splitlines() if file.endswith(".py")])


def package(name):
    """A fresh repository with the package, its functions that tests execute, and the tests that execute any."""
    python = environment()
    folder = project(name, python)
    lines = truth(folder, python)
    return folder, functions(folder, lines), {test for executed in lines.values() for tests in executed.values() for test in tests}


def environment():
    """A virtual environment with pytest, pytest-cov and test dependencies; created once."""
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


def truth(folder, python):
    """The tests that execute each source line, by file; measured once per package."""
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
    # Test runs must leave no files in the project, which is compared with its commit.
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
    # A test's parameters do not make a separate test.
    name = lambda context: re.sub(r"\[.*", "", context.rsplit("|", 1)[0], flags=re.S)
    return {
        str(Path(file).relative_to(folder)): {
            line: sorted({name(context) for context in contexts if context}) for line, contexts in of.items()
        }
        for file, of in lines.items()
        if Path(file).is_relative_to(folder)
    }


def functions(folder, lines):
    """Every function whose body some test executes: its position, its tests, and its file with one more statement in the body."""
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
                edited = text.splitlines(keepends=True)
                edited.insert(start - 1, " " * body[0].col_offset + "edited = 1\n")
                found.append({"file": file, "line": node.lineno, "name": node.name, "tests": tests, "edited": "".join(edited)})
    return found
