"""Prints a CycloneDX bill of materials: the crates compiled into the program, as in target/THIRD-PARTY.md.

    python3 deploy/package/sbom.py [TRIPLE…]

Without a TRIPLE, it covers the systems in deny.toml. Hashes are those of Cargo.lock.
"""

import json
import sys
import tomllib
from datetime import UTC, datetime

import make
import names

sys.path.insert(0, str(names.ROOT / "deploy"))
import third_party

SPECIFICATION = "1.6"


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, kind="library"):
    """A crate as a component. Without an SPDX expression, its licence is a text in THIRD-PARTY.md."""
    said = {"type": kind, "bom-ref": reference(package), "name": package["name"], "version": package["version"]}
    if package["description"]:
        said["description"] = " ".join(package["description"].split())
    # The separator in old crates.
    licence = (package["license"] or "").replace("/", " OR ")
    said["licenses"] = [{"expression": licence} if licence else {"license": {"name": package["license_file"] or "unknown"}}]
    return said | {"purl": reference(package)}


def document(triples, epoch):
    """The bill of materials of the program for `triples`, with a timestamp in seconds."""
    data = third_party.metadata(triples)
    packages = third_party.shipped(data)
    root = next(package for package in data["packages"] if package["id"] == data["resolve"]["root"])
    known = {package["id"]: reference(package) for package in [root, *packages]}
    hashes = {(entry["name"], entry["version"]): entry.get("checksum") for entry in tomllib.loads((names.ROOT / "Cargo.lock").read_text())["package"]}
    components = []
    for package in packages:
        digest = hashes[package["name"], package["version"]]
        components.append(component(package) | ({"hashes": [{"alg": "SHA-256", "content": digest}]} if digest else {}))
    # The standard library has the compiler's version.
    release = make.compiler("release")
    standard = {"type": "library", "bom-ref": f"pkg:generic/rust-std@{release}", "name": "std", "version": release}
    standard |= {"licenses": [{"expression": "MIT OR Apache-2.0"}], "purl": f"pkg:generic/rust-std@{release}"}
    below = {}
    for node in (node for node in data["resolve"]["nodes"] if node["id"] in known):
        # Like `shipped`, without dependencies of tests and build scripts.
        used = [entry["pkg"] for entry in node["deps"] if any(kind["kind"] is None for kind in entry["dep_kinds"])]
        below[known[node["id"]]] = sorted({known[package] for package in used if package in known})
    below[reference(root)].append(standard["bom-ref"])
    said = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPECIFICATION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": {"timestamp": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "component": component(root, "application")},
        "components": [*components, standard],
        "dependencies": [{"ref": name, "dependsOn": below[name]} for name in sorted(below)],
    }
    return json.dumps(said, indent=2) + "\n"


if __name__ == "__main__":
    print(document(sys.argv[1:] or third_party.TARGETS, make.epoch()), end="")
