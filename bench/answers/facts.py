"""Facts about a package from Python's own parser, jedi and ty: for `just answers`.

facts.py symbols FOLDER            its functions, methods and classes, by `ast`
facts.py uses FOLDER TY NEED       uses of the symbols on standard input, by jedi and ty, until NEED of them are used elsewhere
"""

import ast
import json
import pathlib
import subprocess
import sys

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def sources(root):
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.py"))


def parameters(node):
    """The parameters as `inspect.signature` lists them for a bound method and for a class."""
    if isinstance(node, ast.ClassDef):
        made = [inner for inner in node.body if isinstance(inner, FUNCTIONS) and inner.name == "__init__"]
        return parameters(made[0]) if len(made) == 1 else []
    given = node.args
    names = [arg.arg for arg in given.posonlyargs + given.args]
    if names and names[0] in ("self", "cls"):
        names = names[1:]
    names += [given.vararg.arg] if given.vararg else []
    names += [arg.arg for arg in given.kwonlyargs]
    return names + ([given.kwarg.arg] if given.kwarg else [])


def symbols(root):
    for path in sources(root):
        text = (root / path).read_text(encoding="utf-8")
        yield from walk(ast.parse(text).body, path, text.split("\n"), None)


def walk(body, path, lines, container):
    named = {}
    for node in body:
        if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            named.setdefault(node.name, []).append(node)
    for name, nodes in named.items():
        node = nodes[0]
        is_class = isinstance(node, ast.ClassDef)
        # Overloads and properties with setters have several definitions and are left out.
        if len(nodes) == 1 and not name.startswith("__"):
            line = node.lineno - 1
            doc = (ast.get_docstring(node) or "").strip().split("\n")[0].strip()
            yield {
                "name": name,
                "container": container,
                "kind": "class" if is_class else "method" if container else "function",
                "path": path,
                "line": line,
                "character": lines[line].index(name, node.col_offset),
                "end": node.end_lineno - 1,
                "parameters": parameters(node),
                "doc": doc,
            }
        if is_class and container is None and len(nodes) == 1:
            yield from walk(node.body, path, lines, name)


class Ty:
    """A minimal client of ty's language server."""

    def __init__(self, program, root):
        self.root, self.id = root, 0
        self.child = subprocess.Popen([program, "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, cwd=root)
        folder = {"uri": root.as_uri(), "name": root.name}
        self.ask("initialize", {"processId": None, "rootUri": root.as_uri(), "workspaceFolders": [folder],
                                "capabilities": {"general": {"positionEncodings": ["utf-32"]}}})
        self.send({"method": "initialized", "params": {}})
        self.open = set()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.child.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.child.stdin.flush()

    def ask(self, method, params):
        self.id += 1
        self.send({"id": self.id, "method": method, "params": params})
        while True:
            length = 0
            while (line := self.child.stdout.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            message = json.loads(self.child.stdout.read(length))
            if message.get("id") == self.id and "method" not in message:
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message["result"]
            if "method" in message and "id" in message:
                items = (message.get("params") or {}).get("items")
                self.send({"id": message["id"], "result": [None] * len(items) if items else None})

    def uses(self, symbol):
        path = self.root / symbol["path"]
        if path not in self.open:
            self.open.add(path)
            self.send({"method": "textDocument/didOpen", "params": {"textDocument": {
                "uri": path.as_uri(), "languageId": "python", "version": 1, "text": path.read_text(encoding="utf-8")}}})
        found = self.ask("textDocument/references", {
            "textDocument": {"uri": path.as_uri()},
            "position": {"line": symbol["line"], "character": symbol["character"]},
            "context": {"includeDeclaration": True}})
        for place in found or []:
            start = place["range"]["start"]
            yield place["uri"], start["line"], start["character"]


def uses(root, program, need):
    import jedi

    given, found = json.load(sys.stdin), 0
    known = {(root / path).as_uri(): path for path in sources(root)}
    project, ty = jedi.Project(root), Ty(program, root)
    for symbol in given:
        defined = (symbol["path"], symbol["line"], symbol["character"])
        names = jedi.Script(path=root / symbol["path"], project=project).get_references(
            symbol["line"] + 1, symbol["character"], include_builtins=False)
        first = {(name.module_path.as_uri(), name.line - 1, name.column) for name in names if name.module_path}
        first, second = (
            {(known[uri], line, character) for uri, line, character in places if uri in known} - {defined}
            for places in (first, set(ty.uses(symbol))))
        both = sorted(first & second)
        symbol["uses"] = [{"path": path, "line": line, "character": character} for path, line, character in both]
        symbol["disputed"] = sorted({(path, line) for path, line, _ in first ^ second})
        found += any(path != symbol["path"] for path, _, _ in both)
        yield symbol
        if found == need:
            break
    ty.child.kill()


def main():
    root = pathlib.Path(sys.argv[2]).resolve()
    made = symbols(root) if sys.argv[1] == "symbols" else uses(root, sys.argv[3], int(sys.argv[4]))
    json.dump(list(made), sys.stdout)


main()
