"""A language server whose diagnostics are hostile to report formats; reports.py starts it."""

import json
import sys

MESSAGES = {
    "controls": "".join(map(chr, range(0x20))) + "\x7f\x80\x9b\u2028\ufeff",
    "noncharacters": "\ufffe\uffff\U0001ffff",
    "markup": "</failure>]]><!-- \"' & &amp; <script>",
    "display order": "\u202eright to left\u2066",
    "workflow commands": "::error file=x::y\r\n##[error]z\n",
    "long": "é" * 100_000,
    "empty": "",
}
CODES = ["E1", 7, -1, "", "a rule\nwith <lines>", "\x1b[31m", None]


def place(line, start, end_line, end):
    return {"start": {"line": line, "character": start}, "end": {"line": end_line, "character": end}}


# The last three are outside any file here, or end before they begin.
RANGES = [place(0, 0, 0, 3), place(0, 1, 0, 1), place(1, 0, 2**31 - 1, 2**31 - 1), place(2**31 - 1, 5, 2**31 - 1, 9), place(1, 3, 0, 1)]


def diagnostics(uri):
    """One diagnostic for each message, cycling through codes and ranges."""
    related = [{"location": {"uri": other, "range": RANGES[0]}, "message": "here\x1b"} for other in
               [uri, "untitled:Untitled-1", "file:///nowhere/%FF%0A.odd", "https://host.example/a%20b?c=d"]]
    found = []
    for number, message in enumerate(MESSAGES.values()):
        one = {"range": RANGES[number % len(RANGES)], "message": message, "severity": number % 4 + 1, "source": "odd\n\x07", "relatedInformation": related}
        code = CODES[number % len(CODES)]
        found.append(one if code is None else one | {"code": code, "codeDescription": {"href": "https://host.example/rule?a=<b>"}})
    return found


def messages():
    while header := sys.stdin.buffer.readline():
        length = 0
        while header.strip():
            name, _, value = header.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
            header = sys.stdin.buffer.readline()
        yield json.loads(sys.stdin.buffer.read(length))


def send(message):
    body = json.dumps({"jsonrpc": "2.0"} | message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def main():
    for message in messages():
        method, parameters = message.get("method"), message.get("params") or {}
        if method == "initialize":
            send({"id": message["id"], "result": {"capabilities": {"textDocumentSync": 1}}})
        elif method == "textDocument/didOpen":
            document = parameters["textDocument"]
            published = {"uri": document["uri"], "version": document["version"], "diagnostics": diagnostics(document["uri"])}
            send({"method": "textDocument/publishDiagnostics", "params": published})
        elif method == "exit":
            return
        elif "id" in message and method:
            send({"id": message["id"], "result": None})


main()
