"""Shows the errors that an edit would cause, also in other files, without making it: FOLDER FILE OLD NEW."""

import sys

from lsp_tools_client import Client

folder, file, old, new = sys.argv[1:]
with Client(folder) as client:
    report = client.edit(path=file, edits=[{"old": old, "new": new}], dry_run=True, diagnostics=True).value["diagnostics"]
    # A complete answer compares both texts; the other form of a report gives the reason why it does not.
    if "added" in report:
        for finding in report["added"]:
            print(f"{finding['path']}:{finding['at']}: {finding['severity']}: {finding['message']}")
        print(f"{report['errors']} errors in {len(report['files'])} files after the edit")
