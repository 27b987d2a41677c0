"""Prints the section of a version in CHANGELOG.md, without its heading, as release notes.

    python3 deploy/package/release_notes.py [VERSION]        (just release-notes)

Without a version, it prints Unreleased.
"""

import re
import sys
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent.parent / "CHANGELOG.md"
# `## [0.1.0] - 2026-01-31`, and `## [Unreleased]`.
HEADING = re.compile(r"^## \[?v?([^\]\s]+)\]?", re.MULTILINE)


def sections(text):
    """The text below the heading of each version."""
    headings = list(HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    return {heading[1]: text[text.index("\n", heading.end()) : end].strip() for heading, end in zip(headings, ends)}


def notes(text, version):
    """The section of `version`, a name in any case, with or without a `v`."""
    found = sections(text)
    for name, section in found.items():
        if name.lower() == version.lower().removeprefix("v"):
            return section
    sys.exit(f"release-notes: CHANGELOG.md has no section of {version}, only of {', '.join(found)}")


def main(arguments):
    if len(arguments) > 1:
        sys.exit("release-notes: name one version, as: release_notes.py 0.1.0")
    print(notes(FILE.read_text(), arguments[0] if arguments else "Unreleased"))


if __name__ == "__main__":
    main(sys.argv[1:])
