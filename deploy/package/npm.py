"""Writes the npm packages around a program that is built already: one package for each kind of machine, and `lsp-tools` over them.

    python3 deploy/package/npm.py FOLDER TRIPLE=PROGRAM…

`lsp-tools` holds a launcher and names the others as optional dependencies; npm installs the one whose `os`, `cpu` and `libc` fit. So no package
runs a script when it is installed. FOLDER gets a tarball of each, as `npm publish` and `npm install` take them.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
# Written by deploy/third_party.py.
THIRD_PARTY = ROOT / "target/THIRD-PARTY.md"
# What npm calls the machines that the program runs on. Add one when the program was tried there.
MACHINES = {
    "x86_64-unknown-linux-gnu": {"os": "linux", "cpu": "x64", "libc": "glibc"},
    "aarch64-unknown-linux-gnu": {"os": "linux", "cpu": "arm64", "libc": "glibc"},
}
# The oldest Node.js that the launcher was seen to run with; servers from npm need the same.
NODE = ">=18"


def about():
    """What every package says of itself, from Cargo.toml."""
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
    said = {"name": package["name"], "version": package["version"], "description": package["description"]}
    # npm reads SPDX expressions in brackets.
    said |= {"license": f"({package['license']})", "keywords": package["keywords"]}
    if "repository" in package:
        said["repository"] = {"type": "git", "url": package["repository"]}
    return said


def write(folder, description, files):
    """A package in `folder`: its description, and files by their name there, each as a source and whether it may be run."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, (source, runs) in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(0o755 if runs else 0o644)
    (folder / "package.json").write_text(json.dumps(description, indent=2) + "\n")


def pack(folder, out):
    """The tarball of the package in `folder`."""
    command = ["npm", "pack", "--silent", "--ignore-scripts", f"--pack-destination={out}"]
    # npm otherwise asks whether there is a newer npm.
    environment = os.environ | {"npm_config_update_notifier": "false"}
    try:
        made = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        sys.exit("npm: npm is not installed; it comes with Node.js")
    except subprocess.CalledProcessError as error:
        sys.exit(f"npm: npm cannot pack {folder} (status {error.returncode}); what it says stands above")
    return out / made.stdout.strip()


def machine_package(triple, program, stage):
    """The package with the program for one kind of machine: its name, and its folder."""
    if triple not in MACHINES:
        sys.exit(f"npm: no package is known for {triple}, only for {', '.join(MACHINES)}; add it to MACHINES in {Path(__file__).name}")
    if not program.is_file():
        sys.exit(f"npm: there is no program {program}; build it first with: just dist")
    machine = MACHINES[triple]
    short = f"{machine['os']}-{machine['cpu']}"
    description = about() | {"name": f"@lsp-tools/{short}", "description": f"The program lsp-tools for {short}; install lsp-tools instead"}
    description |= {key: [value] for key, value in machine.items()}
    # The launcher needs the program as a file of its own, which Yarn otherwise leaves in an archive.
    description["preferUnplugged"] = True
    files = {path.name: (path, False) for path in [*(ROOT / name for name in LICENCES), THIRD_PARTY]}
    write(stage / short, description, files | {"bin/lsp-tools": (program, True)})
    return description["name"], stage / short


def launcher_package(names, stage):
    """The package that people install."""
    said = about()
    description = said | {
        "bin": {"lsp-tools": "bin/lsp-tools.js"},
        "engines": {"node": NODE},
        # The very version, as they are made together.
        "optionalDependencies": {name: said["version"] for name in names},
    }
    files = {name: (ROOT / name, False) for name in LICENCES}
    files |= {"README.md": (HERE / "README.md", False), "bin/lsp-tools.js": (HERE / "launcher.js", True)}
    write(stage / "lsp-tools", description, files)
    return stage / "lsp-tools"


def make(out, programs):
    """Makes all packages, `programs` being paths by triple, and returns their tarballs."""
    stage = out / "npm"
    machines = [machine_package(triple, program, stage) for triple, program in programs.items()]
    folders = [folder for _, folder in machines] + [launcher_package([name for name, _ in machines], stage)]
    return [pack(folder, out) for folder in folders]


def main(arguments):
    pairs = [argument.partition("=") for argument in arguments[1:]]
    if not pairs or not all(triple and program for triple, _, program in pairs):
        sys.exit("npm: say where the packages go and what is in them: npm.py FOLDER TRIPLE=PROGRAM…")
    out = Path(arguments[0]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    for tarball in make(out, {triple: Path(program).resolve() for triple, _, program in pairs}):
        print(tarball)


if __name__ == "__main__":
    main(sys.argv[1:])
