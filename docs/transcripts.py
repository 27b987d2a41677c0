"""Puts what tests have seen of real hosts into the pages: docs/copilot-host.txt into copilot.md, docs/hooks-claude-code.txt into mcp.md."""
import pathlib
import re

docs = pathlib.Path(__file__).parent


def put(name, page, before, after):
    """Puts the file `name` into `page` between what matches `before` and `after`."""
    shown = (docs / name).read_text().rstrip("\n") + "\n"
    page = docs / page
    text, count = re.subn(
        f"({before}).*?({after})", lambda match: match[1] + shown + match[2], page.read_text(), count=1, flags=re.S
    )
    assert count == 1, f"{page} has no place for {name}"
    page.write_text(text)


put("copilot-host.txt", "copilot.md", r"\$ lsp-tools copilot host [^\n]*\n", r"```\n")
put("hooks-claude-code.txt", "mcp.md", r"<!-- hooks -->\n```text\n", r"```\n<!-- /hooks -->")
