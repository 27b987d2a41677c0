"""Repairs the errors of a folder: tries fixes for each and keeps one that removes errors and adds none: FOLDER SUBFOLDER."""

import sys

from lsp_tools_client import Client

# Stands for a source of fixes: a script, a person, a model.
FIXES = {
    "reportAttributeAccessIssue": [("titel", "title")],
    "reportUndefinedVariable": [("return count + 1", "return 1")],
    "reportReturnType": [('"twelve"', '"12"'), ('"twelve"', "12")],
}

folder, subfolder = sys.argv[1:]
with Client(folder) as client:
    errors = client.lsp_diagnostics(path=subfolder, min_severity="error").value["diagnostics"]
    for error in errors:
        for old, new in FIXES.get(error.get("code") or "", []):
            edit = client.edit(path=error["path"], edits=[{"old": old, "new": new}], diagnostics=True)
            report = edit.raw["diagnostics"]
            if edit.complete and "added" in report and report["removed"] and not report["added"]:
                print(f"{error['path']}: {old} -> {new}: kept")
                break
            print(f"{error['path']}: {old} -> {new}: taken back")
            if undo := edit.raw.get("undo"):
                client.undo(id=undo)
    left = client.lsp_diagnostics(path=subfolder, min_severity="error").value
    print(f"{len(errors)} errors before, {left['count']} after")
