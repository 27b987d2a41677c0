#!/usr/bin/env python3
"""Draws docs/terminal.svg and docs/merge-gate.svg: what lsp-tools really prints on a terminal, for the README.

    python3 docs/picture.py target/release/lsp-tools

Runs the commands below on a copy of fixtures/python, and in a repository with two branches, on a terminal of its own (script(1)), and turns what came, colours
included, into SVG. The servers are those of the private prefix; what is missing is installed first.
"""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = [
    "lsp-tools hover greet/app.py:9:compose",
    "lsp-tools check greet",
    "lsp-tools references greet/people.py:Person.title",
]
# The files of each branch, the later ones on top of the first.
BRANCHES = {
    "main": {"rates.py": "def rate(country: str) -> float:\n    return 0.19\n", "shop.py": 'from rates import rate\n\nprint(rate("de"))\n'},
    "rename": {"rates.py": "def rate_of(country: str) -> float:\n    return 0.19\n", "shop.py": 'from rates import rate_of\n\nprint(rate_of("de"))\n'},
    "caller": {"new.py": 'from rates import rate\n\nprint(rate("fr"))\n'},
}
MERGE_COMMANDS = [
    "git merge-tree --write-tree rename caller >/dev/null && echo merges cleanly",
    "lsp-tools check --merge-branches rename caller",
]
COLUMNS = 76
WIDTH, HEIGHT, MARGIN = 8.4, 19, 20  # of a character; around the text
BACK, TEXT, FAINT = "#16181d", "#d7dae0", "#858b98"
COLOURS = ["#4b5263", "#e5656f", "#98c379", "#e5b567", "#61a8f0", "#c68aee", "#56b6c2", "#d7dae0"]
PLAIN = {"fill": TEXT}


def run(program: Path, project: Path, command: str) -> str:
    words = f"stty cols {COLUMNS} rows 60; {command.replace('lsp-tools', str(program), 1)}"
    done = subprocess.run(
        ["script", "-qec", words, "/dev/null"],
        cwd=project, stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    output = done.stdout.decode()
    if done.returncode not in (0, 1):
        sys.exit(f"`{command}` ended with {done.returncode}:\n{output}")
    return output


def style(before: dict, codes: str) -> dict:
    """The look after a CSI … m: bold, faint, underlined, the sixteen colours, and nothing else."""
    look = dict(before)
    for code in (int(code or 0) for code in codes.split(";")):
        if code == 0:
            look = dict(PLAIN)
        elif code == 1:
            look["font-weight"] = "bold"
        elif code == 2:
            look["fill"] = FAINT
        elif code == 4:
            look["text-decoration"] = "underline"
        elif 30 <= code <= 37 or 90 <= code <= 97:
            look["fill"] = COLOURS[code % 10]
        elif code == 39:
            look["fill"] = TEXT
    return look


def lines(output: str) -> list[list[tuple[str, dict]]]:
    """Runs of text with their looks, line by line; a line that was erased is gone, as on the terminal."""
    done, current, look = [], [], dict(PLAIN)
    for piece in re.split(r"(\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;[^\x1b\x07]*(?:\x07|\x1b\\)|\r?\n|\r)", output):
        if piece in ("\n", "\r\n"):
            done.append(current)
            current = []
        elif piece.endswith("K") and piece.startswith("\x1b["):
            current = []
        elif piece.endswith("m") and piece.startswith("\x1b["):
            look = style(look, piece[2:-1])
        elif piece and piece[0] not in "\x1b\r":
            current.append((piece, look))
    return done + [current] if current else done


def draw(screen: list[list[tuple[str, dict]]], title: str) -> str:
    width, height = COLUMNS * WIDTH + 2 * MARGIN, len(screen) * HEIGHT + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" role="img">',
        f"<title>{html.escape(title)}</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{BACK}"/>',
        "<g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\">",
    ]
    for row, line in enumerate(screen):
        column, y = 0, MARGIN + (row + 0.75) * HEIGHT
        for text, look in line:
            if text.strip():
                # The length is told, so that columns stand below one another in whatever font there is. Chromium keeps the spaces at both
                # ends only where the element itself asks for it.
                attributes = "".join(f' {name}="{value}"' for name, value in look.items())
                x, length = MARGIN + column * WIDTH, len(text) * WIDTH
                out.append(f'<text xml:space="preserve" x="{x:.1f}" y="{y:.1f}" textLength="{length:.1f}"{attributes}>{html.escape(text)}</text>')
            column += len(text)
    return "\n".join([*out, "</g>", "</svg>", ""])


def screen_of(program: Path, project: Path, commands: list[str]) -> list[list[tuple[str, dict]]]:
    screen = []
    for command in commands:
        prompt = [("$ ", {"fill": FAINT}), (command, {"fill": TEXT, "font-weight": "bold"})]
        screen += [*([[]] if screen else []), prompt, *lines(run(program, project, command))]
    return screen


def make_branches(project: Path) -> None:
    def git(*words: str) -> None:
        author = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"]
        subprocess.run(["git", *author, *words], cwd=project, check=True, stdout=subprocess.DEVNULL)

    project.mkdir()
    git("init", "-q", "-b", "main")
    for branch, files in BRANCHES.items():
        if branch != "main":
            git("checkout", "-q", "-b", branch, "main")
        for name, text in files.items():
            (project / name).write_text(text)
        git("add", "-A")
        git("commit", "-q", "-m", branch)
    git("checkout", "-q", "main")


def main() -> None:
    program, here = Path(sys.argv[1]).resolve(), Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        project, shop = Path(folder) / "project", Path(folder) / "shop"
        shutil.copytree(here.parent / "fixtures" / "python", project)
        (project / ".lsp-tools").mkdir()
        subprocess.run([program, "install", "python", "toml"], cwd=project, check=True, stdout=subprocess.DEVNULL)
        screen = screen_of(program, project, COMMANDS)
        (here / "terminal.svg").write_text(draw(screen, "lsp-tools on a terminal: a hover, a check, references"), encoding="utf-8")
        make_branches(shop)
        subprocess.run([program, "install", "pyright"], cwd=shop, check=True, stdout=subprocess.DEVNULL)
        screen = screen_of(program, shop, MERGE_COMMANDS)
        title = "git merges two branches cleanly, and lsp-tools names the call that the merge would break"
        (here / "merge-gate.svg").write_text(draw(screen, title), encoding="utf-8")


if __name__ == "__main__":
    main()
