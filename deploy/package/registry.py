"""Writes the files from which hosts install MCP servers: a bundle (.mcpb) with the program, and the `server.json` of the MCP Registry.

    python3 deploy/package/make.py mcp

The bundle's format is that of `@anthropic-ai/mcpb`, whose command validates it. `server.json` names the packages of PyPI and npm, and
the bundle by its hash; it is checked against the Registry's schema. Nothing is published.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import archives
import names
import npm

MCPB = "2.1.2"
# A linter that includes the Registry's released schemas and its further rules.
SKILLSAW = "0.22.0"
TOOLS = names.ROOT / "target/package-tools"
# The newest schema that the Registry has released.
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
# The tools that no host has itself.
COMMAND = ["mcp", "--profile=lsp"]
# Seconds for a command of npm, on a slow line.
PATIENCE = 600


def run(command, **options):
    """Runs a command; one that fails ends this program with its output."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=PATIENCE, **options)
    except FileNotFoundError:
        sys.exit(f"registry: {command[0]} is not installed; npm comes with Node.js")
    except subprocess.TimeoutExpired:
        sys.exit(f"registry: this did not end within {PATIENCE} s: {' '.join(map(str, command))}")
    if done.returncode:
        sys.exit(f"registry: this failed with status {done.returncode}: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def mcpb():
    """The command of `@anthropic-ai/mcpb`, in a folder of its own."""
    folder = TOOLS / f"mcpb-{MCPB}"
    program = folder / "node_modules/.bin/mcpb"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        environment = os.environ | {"npm_config_update_notifier": "false"}
        run(["npm", "install", *quiet, f"@anthropic-ai/mcpb@{MCPB}"], cwd=folder, env=environment)
    return program


def check(folder):
    """Ends this program if the `server.json` in `folder` is not one that the Registry takes."""
    venv = TOOLS / f"skillsaw-{SKILLSAW}"
    if not (venv / "bin/skillsaw").exists():
        run([sys.executable, "-m", "venv", venv])
        run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check", f"skillsaw=={SKILLSAW}"])
    # In a folder of its own, for it reads every file beside it.
    with tempfile.TemporaryDirectory() as apart:
        shutil.copy(folder / "server.json", apart)
        run([venv / "bin/skillsaw", "lint", apart])


def manifest(machine, program):
    """The bundle's description of itself, with the program's path in it. A host starts it in a folder of its own, so it asks for the workspace."""
    workspace = {"type": "directory", "title": "Workspace", "description": "The folder of the code to answer questions about", "required": True}
    server = {"command": f"${{__dirname}}/{program}", "args": ["--workspace", "${user_config.workspace}", *COMMAND]}
    said = {
        "manifest_version": "0.3",
        "name": names.NAME,
        "display_name": names.TITLE,
        "version": names.VERSION,
        "description": names.DESCRIPTION,
        "author": {"name": names.OWNER},
        "license": names.LICENSE,
        "keywords": names.KEYWORDS,
        "server": {"type": "binary", "entry_point": program, "mcp_config": server},
        "tools_generated": True,
        "user_config": {"workspace": workspace},
        "compatibility": {"platforms": [machine["os"]]},
    }
    if names.REPOSITORY != names.PLACEHOLDER:
        said["repository"] = {"type": "git", "url": names.REPOSITORY}
    return said


def bundle(out, triple, program):
    """Packs the bundle for one kind of machine, and returns its path."""
    machine = npm.machine(triple, program)
    inside = f"bin/{names.program(triple)}"
    made = out / names.bundle(npm.short(machine))
    with tempfile.TemporaryDirectory() as apart:
        description = Path(apart) / "manifest.json"
        npm.describe(description, manifest(machine, inside))
        run([mcpb(), "validate", description])
        files = [*(names.ROOT / name for name in npm.LICENCES), npm.THIRD_PARTY, description]
        # Not by `mcpb pack`, which stamps files with the time of day.
        archives.zipped(made, {path.name: (path, False) for path in files} | {inside: (program, True)})
    return made


def server(bundles):
    """The Registry's entry: the packages of PyPI and npm, and the bundles, which are paths."""
    words = [{"type": "positional", "value": word} for word in COMMAND]
    stdio = {"transport": {"type": "stdio"}}
    packages = [
        {"registryType": kind, "identifier": name, "version": names.VERSION, "runtimeHint": hint, **stdio, "packageArguments": words}
        for kind, name, hint in [("pypi", names.PYPI, "uvx"), ("npm", names.NPM, "npx")]
    ]
    for path in bundles:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        packages.append({"registryType": "mcpb", "identifier": names.released(path.name), "version": names.VERSION, "fileSha256": digest, **stdio})
    entry = {
        "$schema": SCHEMA,
        "name": names.mcp_name(),
        "title": names.TITLE,
        "description": names.DESCRIPTION,
        "version": names.VERSION,
        "packages": packages,
    }
    if names.REPOSITORY != names.PLACEHOLDER:
        entry["repository"] = {"url": names.REPOSITORY, "source": urlsplit(names.REPOSITORY).hostname.removesuffix(".com")}
    return entry


def make(out, programs):
    """Makes a bundle of each program, `programs` being paths by triple, and `server.json` over them; returns their paths."""
    bundles = [bundle(out, triple, program) for triple, program in programs.items()]
    entry = out / "server.json"
    entry.write_text(json.dumps(server(bundles), indent=2) + "\n")
    check(out)
    return [*bundles, entry]
