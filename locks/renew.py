"""Renews the locks: the packages that `lsp-tools install SERVER` fetches from PyPI and npm, with all that they depend on.

    python3 locks/renew.py [SERVER...]    (just locks; without names: every server whose recipe has packages of pip or npm)

What servers.toml pins is resolved anew by uv and by npm. What changed is printed, package by package. uv comes from PyPI,
into target/lock-tools; npm has to be there.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What the program installs beside the servers of the catalogue, by the name of its lock.
OTHERS = {"copilot-cli": "src/bridges/copilot/host/recipe.toml"}
LOCKS = ROOT / "locks"
TOOLS = ROOT / "target/lock-tools"
UV = "uv==0.13.9"
# The oldest Python that a lock is for: the first of these with which its packages can be had.
PYTHONS = ["3.9", "3.10", "3.11", "3.12", "3.13"]
PYPI = "https://pypi.org/simple"
NPM = "https://registry.npmjs.org/"


def fail(text):
    raise SystemExit(f"locks: {text}")


def install_uv():
    wanted = TOOLS / UV
    if not wanted.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", TOOLS], check=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", UV]
        subprocess.run([TOOLS / "bin/python", *install], check=True)
        wanted.touch()


def only(server, manager, lists):
    """The one list of packages among a server's ways; one folder holds one lock of each manager."""
    different = {tuple(packages) for packages in lists if packages}
    if len(different) > 1:
        fail(f"{server} has several lists of {manager} packages, and there is one lock for each manager: {different}")
    return list(different.pop()) if different else []


def recipe(server, install):
    """A server's packages of pip and of npm."""
    ways = [install, *install.get("or", [])]
    needs = install.get("needs", {}).get("pip", [])
    pip = only(server, "pip", [way.get("pip", []) + more for way in ways for more in ([], needs)])
    return pip, only(server, "npm", [way.get("npm", []) for way in ways])


def requirements(server, packages):
    """The text of the lock for pip."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, made = Path(folder, "requirements.in"), Path(folder, "requirements.txt")
        wanted.write_text("\n".join(packages) + "\n")
        command = [TOOLS / "bin/uv", "pip", "compile", "--quiet", "--no-config", "--universal", "--generate-hashes", "--no-header"]
        command += ["--no-annotate", "--index-url", PYPI, "--only-binary", ":all:"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
        said = ""
        for python in PYTHONS:
            arguments = ["--python-version", python, "--output-file", made, wanted]
            done = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True)
            if done.returncode == 0:
                head = f"# packages: {' '.join(packages)}\n# for Python {python} and later; `just locks {server}` renews it\n"
                return head + made.read_text()
            said += f"for Python {python}:\n{done.stderr}\n"
    fail(f"{server}: uv finds no lock\n{said}")


def name_and_version(package):
    name, _, version = package.rpartition("@")
    return name, version


def without_builds(lock):
    """Takes builds for other machines that the registry does not have out of the lock: `npm ci` refuses one that names them and
    holds no hash of them. They are returned by the package that names them."""
    missing = {}
    for key, entry in lock["packages"].items():
        wanted = entry.get("optionalDependencies", {})
        for name in [name for name in wanted if not any(path.endswith(f"node_modules/{name}") for path in lock["packages"])]:
            del wanted[name]
            missing.setdefault(key.rpartition("node_modules/")[2], []).append(name)
    return missing


def package_lock(server, packages):
    """The text of the lock for npm. Its entry of the installation is the package.json that `npm ci` requires beside it."""
    with tempfile.TemporaryDirectory() as folder:
        manifest = {"name": "locked-servers", "dependencies": dict(name_and_version(package) for package in packages)}
        Path(folder, "package.json").write_text(json.dumps(manifest))
        command = ["npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"]
        command += ["--package-lock=true", "--lockfile-version=3", "--legacy-peer-deps=false", f"--registry={NPM}", "--loglevel=error"]
        # Settings of the one who runs this may leave the addresses out.
        command += ["--omit-lockfile-registry-resolved=false"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            fail(f"{server}: npm finds no lock\n{done.stdout}{done.stderr}")
        lock = json.loads(Path(folder, "package-lock.json").read_text())
        missing = without_builds(lock)
        if missing:
            lock["notInLock"] = missing
        return json.dumps(lock, indent=2) + "\n"


def versions(name, text):
    """The versions of each package that a lock holds."""
    found = {}
    if name == "requirements.txt":
        pairs = re.findall(r"^([A-Za-z0-9._-]+)(?:\[.*?\])?==([^\s;\\]+)", text, re.MULTILINE)
    else:
        entries = json.loads(text)["packages"].items()
        pairs = [(key.rpartition("node_modules/")[2], entry["version"]) for key, entry in entries if key]
    for package, version in pairs:
        found.setdefault(package, set()).add(version)
    return {package: ", ".join(sorted(several)) for package, several in found.items()}


def write(server, name, text):
    """Writes a lock, or removes it where there is no `text`; the changes, one line for each package."""
    path = LOCKS / server / name
    old = path.read_text() if path.exists() else None
    if old == text:
        return []
    if text is None:
        path.unlink()
        return [f"{name} removed: no such packages in the recipe"]
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    if old is None:
        return [f"{name} is new: {len(versions(name, text))} packages"]
    before, after = versions(name, old), versions(name, text)
    changed = [package for package in sorted(before.keys() | after.keys()) if before.get(package) != after.get(package)]
    lines = [f"{package} {before.get(package, '(new)')} → {after.get(package, '(gone)')}" for package in changed]
    return lines or [f"{name}: the same versions, other files or conditions"]


def renew(server, install):
    pip, npm = recipe(server, install)
    texts = {"requirements.txt": requirements(server, pip) if pip else None}
    texts["package-lock.json"] = package_lock(server, npm) if npm else None
    lines = [line for name, text in texts.items() for line in write(server, name, text)]
    changed = bool(lines)
    for package, builds in json.loads(texts["package-lock.json"] or "{}").get("notInLock", {}).items():
        lines.append(f"{package} is not locked for the machines of {', '.join(builds)}: the registry has no such packages")
    for line in lines:
        print(f"{server}: {line}")
    if not any(texts.values()) and (LOCKS / server).is_dir():
        (LOCKS / server).rmdir()
    return changed


def main(names):
    servers = tomllib.loads((ROOT / "servers.toml").read_text())["server"]
    servers |= {name: tomllib.loads((ROOT / path).read_text()) for name, path in OTHERS.items()}
    unknown = [name for name in names if name not in servers]
    if unknown:
        fail(f"servers.toml has no server {', '.join(unknown)}")
    install_uv()
    # They wait for the registries most of the time.
    with ThreadPoolExecutor(4) as pool:
        changed = list(pool.map(lambda name: renew(name, servers[name].get("install", {})), names or servers))
    for folder in LOCKS.iterdir():
        if folder.is_dir() and folder.name not in servers and not names:
            fail(f"{folder} belongs to no server of servers.toml; remove it")
    print(f"{sum(changed)} of {len(changed)} servers have other locks than before")


if __name__ == "__main__":
    main(sys.argv[1:])
