"""Writes target/THIRD-PARTY.md: the licence texts of everything that is compiled into the program.

    python3 deploy/third_party.py    (just third-party)

It fails if a crate has no licence text and names no licence whose text is known. Packages contain the file.

The crates are those that cargo links or expands for the systems that deny.toml names, with the default features; those of tests and build scripts
are not part of the program. Texts are taken from the crates as they are published: the C sources of grammars, of tree-sitter
and of ring come with theirs.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "target/THIRD-PARTY.md"
TARGETS = tomllib.loads((ROOT / "deny.toml").read_text())["graph"]["targets"]
# Names of files with a licence or with notices that must be passed on.
LICENCE = re.compile(r"^(UN)?LICEN[CS]E|^COPYING|^COPYRIGHT|^NOTICE", re.IGNORECASE)
# Of these folders of a crate nothing is compiled.
APART = {"tests", "test", "benches", "bench", "examples", "docs", "fuzz", ".github"}
# Licences whose text this repository has, for crates that name one and lack its text.
OWN = [("Apache-2.0", "LICENSE-APACHE"), ("MIT", "LICENSE-MIT")]
HEAD = """# Third-party software

The crates that are compiled into `lsp-tools`, and their licences. `just third-party` writes this file.

Besides these crates the program holds Rust's standard library, under MIT or Apache-2.0 as most of them are. The texts about libraries
that it brings, and its queries for grammars, are the project's own.

"""


def metadata(targets=TARGETS):
    command = ["cargo", "metadata", "--locked", "--format-version=1"]
    for target in targets:
        command += ["--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


def shipped(data):
    """The packages below ours, without dependencies of tests and build scripts."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    root = data["resolve"]["root"]
    found, open_ends = set(), [root]
    while open_ends:
        for dependency in nodes[open_ends.pop()]["deps"]:
            of_program = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if of_program and dependency["pkg"] not in found:
                found.add(dependency["pkg"])
                open_ends.append(dependency["pkg"])
    packages = [package for package in data["packages"] if package["id"] in found]
    return sorted(packages, key=lambda package: (package["name"], package["version"]))


def same(text):
    """The text without trailing blanks, so that texts which differ only in them are equal."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    return "\n".join(lines).strip("\n")


def texts(package):
    """The licence texts in a crate, by their path there."""
    folder = Path(package["manifest_path"]).parent
    found = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        code = path.suffix in {".rs", ".py", ".toml", ".json", ".hbs"}
        if LICENCE.match(path.name) and path.is_file() and not code and not APART.intersection(inside.parts[:-1]):
            found[inside.as_posix()] = same(path.read_text(errors="replace"))
    if package["license_file"]:
        inside = Path(package["license_file"]).as_posix()
        found[inside] = same((folder / inside).read_text(errors="replace"))
    return {name: text for name, text in found.items() if text}


def standard_texts(package):
    """For a crate without a text: that of its licence, with the crate's authors if the text has a place for them."""
    for licence, name in OWN:
        if re.search(rf"\b{re.escape(licence)}\b", package["license"] or ""):
            text = same((ROOT / name).read_text())
            if licence == "MIT":
                authors = ", ".join(re.sub(r" *<.*?>", "", author) for author in package["authors"])
                text = re.sub(r"^Copyright.*$", f"Copyright (c) {authors or 'the authors of ' + package['name']}", text, flags=re.MULTILINE)
            return {licence: text}
    sys.exit(f"third-party: {package['name']} {package['version']} has no text of its licence {package['license']}")


def document(packages, libraries):
    groups, list_of_all = {}, []
    for package in packages:
        title = f"{package['name']} {package['version']}"
        found = texts(package)
        without = "" if found else "; it comes without a text, so the licence's own is below"
        list_of_all.append(f"- {title}: {package['license'] or 'see its text'}{without}\n")
        for path, text in (found or standard_texts(package)).items():
            # Many differ only in line breaks.
            users = groups.setdefault(" ".join(text.split()), (text, []))[1]
            users.append(f"{title} ({path})")
    for title, path in libraries.items():
        list_of_all.append(f"- {title}: no crate, see its text\n")
        groups[title] = (same(path.read_text(errors="replace")), [f"{title} ({path.name})"])
    out = [HEAD, "## Crates\n\n", *list_of_all, "\n## Texts\n"]
    for text, users in sorted(groups.values(), key=lambda group: (-len(group[1]), group[1])):
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
        out.append(f"\n### {'; '.join(users)}\n\n{fence}text\n{text}\n{fence}\n")
    return "".join(out)


def main(libraries={}):
    """Writes the file; `libraries` maps names of other linked libraries to the paths of their licences."""
    packages = shipped(metadata())
    text = document(packages, libraries)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text)
    print(f"{FILE.relative_to(ROOT)}: {len(packages)} crates, {len(text) // 1000} KB")


if __name__ == "__main__":
    main()
