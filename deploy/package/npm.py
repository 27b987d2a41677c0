"""Writes the npm packages around a built program: one package for each kind of machine, and `lsp-tools` over them.

    python3 deploy/package/npm.py FOLDER TRIPLE=PROGRAM…

`lsp-tools` has a launcher and optional dependencies on the others; npm installs the one with matching `os`, `cpu` and `libc`. So no package
runs a script when it is installed. FOLDER gets a tarball of each, for `npm publish` and `npm install`.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import names

HERE = Path(__file__).resolve().parent
ROOT = names.ROOT
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
# Written by deploy/third_party.py.
THIRD_PARTY = ROOT / "target/THIRD-PARTY.md"
# npm's names of the supported machines. The programs for macOS never ran; that for Windows ran under Wine.
MACHINES = {
    "x86_64-unknown-linux-gnu": {"os": "linux", "cpu": "x64", "libc": "glibc"},
    "x86_64-unknown-linux-musl": {"os": "linux", "cpu": "x64", "libc": "musl"},
    "aarch64-unknown-linux-gnu": {"os": "linux", "cpu": "arm64", "libc": "glibc"},
    "aarch64-unknown-linux-musl": {"os": "linux", "cpu": "arm64", "libc": "musl"},
    "x86_64-apple-darwin": {"os": "darwin", "cpu": "x64"},
    "aarch64-apple-darwin": {"os": "darwin", "cpu": "arm64"},
    "x86_64-pc-windows-gnu": {"os": "win32", "cpu": "x64"},
}
# The oldest Node.js tested with the launcher; servers from npm need the same.
NODE = ">=18"


def about():
    """The metadata of every package."""
    said = {"name": names.NPM, "version": names.VERSION, "description": names.DESCRIPTION}
    # npm expects SPDX expressions in parentheses.
    said |= {"license": f"({names.LICENSE})", "keywords": names.KEYWORDS}
    if names.REPOSITORY != names.PLACEHOLDER:
        said["repository"] = {"type": "git", "url": names.REPOSITORY}
    return said


def lay(folder, files):
    """Replaces `folder` by files: name to source and executable flag."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, (source, runs) in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(0o755 if runs else 0o644)


def describe(file, description):
    """Writes a package.json readable by all, whatever the umask."""
    file.write_text(json.dumps(description, indent=2) + "\n")
    file.chmod(0o644)


def write(folder, description, files):
    """Writes a package into `folder`: its package.json, and files as for `lay`."""
    lay(folder, files)
    describe(folder / "package.json", description)


def pack(folder, out):
    """The tarball of the package in `folder`."""
    command = ["npm", "pack", "--silent", "--ignore-scripts", f"--pack-destination={out}"]
    # Disables npm's update check.
    environment = os.environ | {"npm_config_update_notifier": "false"}
    try:
        made = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        sys.exit("npm: npm is not installed; it comes with Node.js")
    except subprocess.CalledProcessError as error:
        sys.exit(f"npm: npm cannot pack {folder} (status {error.returncode}); its output is above")
    return out / made.stdout.strip()


def machine(triple, program):
    """The kind of machine of a triple, whose program must exist."""
    if triple not in MACHINES:
        sys.exit(f"npm: no package is known for {triple}, only for {', '.join(MACHINES)}; add it to MACHINES in {Path(__file__).name}")
    if not program.is_file():
        sys.exit(f"npm: there is no program {program}; build it first with: just dist")
    return MACHINES[triple]


def short(machine):
    """The name of a kind of machine, such as linux-x64 or linux-x64-musl."""
    return f"{machine['os']}-{machine['cpu']}{'-musl' if machine.get('libc') == 'musl' else ''}"


def machine_package(triple, program, stage):
    """The package with the program for one kind of machine: its name and folder."""
    kind = machine(triple, program)
    name = short(kind)
    description = about() | {"name": f"{names.NPM_SCOPE}/{name}"}
    description["description"] = f"The program {names.NAME} for {name}; install {names.NPM} instead"
    description |= {key: [value] for key, value in kind.items()}
    # The launcher needs the program as a separate file, which Yarn otherwise leaves in an archive.
    description["preferUnplugged"] = True
    files = {path.name: (path, False) for path in [*(ROOT / name for name in LICENCES), THIRD_PARTY]}
    write(stage / name, description, files | {f"bin/{names.program(triple)}": (program, True)})
    return description["name"], stage / name


def launcher_package(programs, stage):
    """The package that users install, over those of `programs`."""
    said = about()
    description = said | {
        # This proves to the MCP Registry that the package belongs to the entry.
        "mcpName": names.mcp_name(),
        "bin": {names.NAME: "bin/lsp-tools.js"},
        "engines": {"node": NODE},
        # The exact version, as they are released together.
        "optionalDependencies": {name: said["version"] for name in programs},
    }
    files = {name: (ROOT / name, False) for name in LICENCES}
    files |= {"README.md": (HERE / "README.md", False), "bin/lsp-tools.js": (HERE / "launcher.js", True)}
    write(stage / names.NPM, description, files)
    return stage / names.NPM


def make(out, programs):
    """Makes all packages from `programs`, paths by triple, and returns their tarballs."""
    stage = out / "npm"
    machines = [machine_package(triple, program, stage) for triple, program in programs.items()]
    folders = [folder for _, folder in machines] + [launcher_package([name for name, _ in machines], stage)]
    tarballs = [pack(folder, out) for folder in folders]
    shutil.rmtree(stage)
    return tarballs


def main(arguments):
    pairs = [argument.partition("=") for argument in arguments[1:]]
    if not pairs or not all(triple and program for triple, _, program in pairs):
        sys.exit("npm: name the output folder and the programs: npm.py FOLDER TRIPLE=PROGRAM…")
    out = Path(arguments[0]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    for tarball in make(out, {triple: Path(program).resolve() for triple, _, program in pairs}):
        print(tarball)


if __name__ == "__main__":
    main(sys.argv[1:])
