"""Lists the uses of a symbol, each with its line and the function around it: FOLDER SYMBOL."""

import sys

from lsp_tools_client import Client

folder, symbol = sys.argv[1:]
with Client(folder) as client:
    answer = client.lsp_references(at=symbol)
    if not answer.complete:
        print(f"there may be more: {answer.verdict}", *answer.reasons, sep="\n  ")
    for places in answer.raw["locations"]:
        for path, rows in places.items():
            for at, line, *around in rows:
                print(f"{path}:{at} {around[0] if around and around[0] else '(module)'}: {line}")
