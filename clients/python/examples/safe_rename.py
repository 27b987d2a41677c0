"""Renames a symbol everywhere if a dry run shows no new errors: FOLDER SYMBOL NEW_NAME."""

import sys

from lsp_tools_client import Client

folder, symbol, name = sys.argv[1:]
with Client(folder) as client:
    report = client.lsp_rename(at=symbol, new_name=name, dry_run=True, diagnostics=True).value["diagnostics"]
    if "added" not in report or report["added"]:
        sys.exit(f"not renamed: {report}")
    renamed = client.lsp_rename(at=symbol, new_name=name).raw
    for file in renamed["results"]:
        print(f"{file['path']}: {file['additions']} lines changed")
    print(f"to take it back: client.undo(id={renamed.get('undo')!r})")
