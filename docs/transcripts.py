"""Puts docs/copilot-host.txt, which a test has made of a real run, into docs/copilot.md."""
import pathlib
import re

docs = pathlib.Path(__file__).parent
page = docs / "copilot.md"
shown = (docs / "copilot-host.txt").read_text()
text, count = re.subn(
    r"(\$ lsp-tools copilot host [^\n]*\n).*?(\n```\n)",
    lambda match: match[1] + shown.rstrip("\n") + match[2],
    page.read_text(),
    count=1,
    flags=re.S,
)
assert count == 1, "docs/copilot.md has no transcript"
page.write_text(text)
