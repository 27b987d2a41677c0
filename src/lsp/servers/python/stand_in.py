"""Stands in for the interpreter of a Python environment: says what it would say of where modules are, and runs nothing of it.

Servers ask an interpreter for `sys.path` or have it find modules. This is the user's own Python, isolated and without site packages
(`-IS`), which finds the modules of the environment and refuses to import any. Made by lsp-tools; may be deleted.
"""

import sys
from collections import namedtuple
from importlib import machinery

# ENVIRONMENT


def refuse(*_):
    raise ImportError("no code of this project is run: it is not trusted")


class Source(machinery.SourceFileLoader):
    create_module = exec_module = get_code = refuse


class Bytecode(machinery.SourcelessFileLoader):
    create_module = exec_module = get_code = refuse


class Extension(machinery.ExtensionFileLoader):
    create_module = exec_module = refuse


KINDS = [
    (Extension, machinery.EXTENSION_SUFFIXES),
    (Source, machinery.SOURCE_SUFFIXES),
    (Bytecode, machinery.BYTECODE_SUFFIXES),
]


def find_only(path):
    if any(path == folder or path.startswith(folder + "/") for folder in CLOSED):
        return machinery.FileFinder(path, *KINDS)
    raise ImportError


def main():
    sys.path_hooks.insert(0, find_only)
    sys.path_importer_cache.clear()
    sys.path[:] = [path for path in sys.path if path] + LIBRARIES
    sys.prefix = sys.exec_prefix = PREFIX
    words = sys.argv[1:]
    while words and words[0].startswith("-") and words[0] != "-c":
        words.pop(0)
    if words[:1] == ["-c"] and len(words) > 1:
        sys.argv = ["-c", *words[2:]]
        if VERSION is not None and VERSION != sys.version_info[:2]:
            parts = namedtuple("version_info", "major minor micro releaselevel serial")
            sys.version_info = parts(*VERSION, 0, "final", 0)
        exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})
    elif words and not any(words[0].startswith(folder + "/") for folder in CLOSED):
        import runpy

        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


main()
