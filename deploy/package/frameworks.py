"""Stubs of the macOS frameworks that a program links with: lists of symbols, since zig includes Apple's C library but no frameworks.

The symbols are all words of the crates that declare them for Rust; unused ones that a framework lacks do no harm.
"""

import json
import re

import make
import names

# The frameworks, by the crate that declares their symbols, and the symbols' prefixes.
FRAMEWORKS = {"core-foundation-sys": ("CoreFoundation", "k?CF"), "security-framework-sys": ("Security", "k?Sec|SSL|CMS|Auth|cssm")}
TARGETS = "[ arm64-macos, x86_64-macos ]"


def sources(crate):
    """The source files of a crate, in each version in Cargo.lock."""
    said = json.loads(make.said("cargo", "metadata", "--format-version=1", "--locked", f"--manifest-path={names.ROOT}/Cargo.toml"))
    folders = [make.Path(package["manifest_path"]).parent / "src" for package in said["packages"] if package["name"] == crate]
    return [file for folder in folders for file in folder.rglob("*.rs")]


def stub(framework, symbols):
    """The text of a stub (version 4 of the format), which tells a linker the library of each symbol."""
    return (
        f"--- !tapi-tbd\ntbd-version: 4\ntargets: {TARGETS}\n"
        f"install-name: '/System/Library/Frameworks/{framework}.framework/Versions/A/{framework}'\n"
        f"exports:\n  - targets: {TARGETS}\n    symbols: [ {', '.join(f'_{symbol}' for symbol in sorted(symbols))} ]\n...\n"
    )


def write(folder):
    """Writes the stubs below `folder`, for `-F`."""
    for crate, (framework, beginnings) in FRAMEWORKS.items():
        words = re.compile(rf"\b(?:{beginnings})\w+\b")
        symbols = {word for file in sources(crate) for word in words.findall(file.read_text())}
        place = folder / f"{framework}.framework"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{framework}.tbd").write_text(stub(framework, symbols))
    return folder
