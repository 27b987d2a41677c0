#!/usr/bin/env python3
"""Installs the plugin in real hosts in empty homes, uses it with a stand-in for the model, updates it and removes it.

    tests/hosts/plugin.py PROGRAM [HOST…]    prints a table; for all hosts, it also replaces the table of docs/mcp.md

Fails at a `no` that the table of that page does not have.
Hosts and pyright are taken from `target/`, or from the folders HOSTS_DIR and LSP_TOOLS_DATA_DIR; VERBOSE=1 shows commands and model input.
"""
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/mcp.md"
HOSTS = pathlib.Path(os.environ.get("HOSTS_DIR", ROOT / "target/test-hosts"))
SERVERS = pathlib.Path(os.environ.get("LSP_TOOLS_DATA_DIR", ROOT / "target/test-servers"))
VERBOSE = bool(os.environ.get("VERBOSE"))
NAME = "lsp-tools"
LATER = "9.9.9"
LIMIT = 120
PLACE = {"at": "greet/app.py:9:compose"}
OLD, NEW = "person: Person, *,", "person: Person, greeting: str, *,"
COLUMNS = ["install", "connected", "loop", "LSP tool", "hook cold", "hook warm", "gate", "update", "remove"]
TITLES = {
    "claude-code": "Claude Code", "codex": "Codex", "copilot-cli": "Copilot CLI", "gemini": "Gemini CLI", "qwen-code": "Qwen Code",
    "opencode": "opencode",
}


class Model(http.server.ThreadingHTTPServer):
    """A stand-in for the model: calls the tools of `steps` in order, then says a word."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.begin([])
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def begin(self, steps):
        """Begins a session with these steps."""
        self.steps, self.requests, self.offered = steps, [], set()

    def read_after(self, step):
        """Returns the texts that came with the result of a step, and after the last step all later texts."""
        known, new = set(), []
        for body in self.requests:
            texts = list(strings(body))
            if (done := results(body)) == step + 1 or done > step and step + 1 == len(self.steps):
                new += [text for text in texts if text not in known]
            known.update(texts)
        return "\n".join(new)

    def read_first(self):
        return "\n".join(strings(self.requests[:1]))


def results(body):
    """Counts the results of tools in a request."""
    text = json.dumps(body)
    marks = ["tool_result", "function_call_output", "custom_tool_call_output", "tool_search_output"]
    return sum(text.count(mark) for mark in [*(f'"type": "{mark}"' for mark in marks), '"functionResponse":', '"role": "tool"'])


def names(value):
    """Yields the names of the tools of a request with their namespace, also those that a search found."""
    for tool in value if isinstance(value, list) else []:
        if tool.get("type") == "tool_search":
            yield "tool_search", "search"
        name = tool.get("name") or tool.get("function", {}).get("name")
        inner = tool.get("functionDeclarations") or tool.get("tools")
        if inner:
            for part in names(inner):
                yield part[0], name
        elif name:
            yield name, None


class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply({"data": [], "models": []})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        tools = list(names(body.get("tools")))
        if "count" in self.path:
            return self.reply({"input_tokens": 1, "totalTokens": 1})
        if not tools:
            return self.say(body, "Nothing.", None, 0)
        for item in body.get("input") or []:
            if isinstance(item, dict) and item.get("type") == "tool_search_output":
                tools += names(item.get("tools"))
        self.server.requests.append(body)
        self.server.offered.update(name for name, _ in tools)
        done = results(body)
        if done >= len(self.server.steps):
            return self.say(body, "Done.", None, done)
        wanted, arguments = self.server.steps[done]
        name, space = next((pair for pair in tools if pair[0] == wanted or pair[0].endswith(wanted)), (wanted, None))
        self.say(body, None, (name, space, arguments), done)

    def say(self, body, words, call, nth):
        name, space, given = call or (None, None, None)
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "prompt_tokens": 1, "completion_tokens": 1}
        if "/messages" in self.path:
            block = {"type": "tool_use", "id": f"t{nth}", "name": name, "input": given} if call else {"type": "text", "text": words}
            reason = "tool_use" if call else "end_turn"
            whole = {"id": "m", "type": "message", "role": "assistant", "model": "stand-in", "content": [block], "stop_reason": reason, "usage": usage}
            if not body.get("stream"):
                return self.reply(whole)
            delta = {"type": "input_json_delta", "partial_json": json.dumps(given)} if call else {"type": "text_delta", "text": words}
            start = {**block, **({"input": {}} if call else {"text": ""})}
            self.events(
                ("message_start", {"message": {**whole, "content": [], "stop_reason": None}}),
                ("content_block_start", {"index": 0, "content_block": start}),
                ("content_block_delta", {"index": 0, "delta": delta}),
                ("content_block_stop", {"index": 0}),
                ("message_delta", {"delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}}),
                ("message_stop", {}),
            )
        elif "enerateContent" in self.path:
            part = {"functionCall": {"name": name, "args": given, "id": f"c{nth}"}} if call else {"text": words}
            whole = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}]}
            self.events((None, whole)) if "stream" in self.path else self.reply(whole)
        elif "/responses" in self.path:
            item = {"type": "message", "id": f"i{nth}", "role": "assistant", "content": [{"type": "output_text", "text": words}]}
            if call and isinstance(given, str):
                item = {"type": "custom_tool_call", "id": f"i{nth}", "call_id": f"c{nth}", "name": name, "input": given}
            elif call and space == "search":
                item = {"type": "tool_search_call", "id": f"i{nth}", "call_id": f"c{nth}", "execution": "client", "arguments": given}
            elif call:
                item = {"type": "function_call", "id": f"i{nth}", "call_id": f"c{nth}", "name": name, "arguments": json.dumps(given)}
                item.update({"namespace": space} if space else {})
            self.events(
                ("response.created", {"response": {"id": "r"}}),
                ("response.output_item.done", {"output_index": 0, "item": item}),
                ("response.completed", {"response": {"id": "r", "usage": usage}}),
            )
        else:
            calls = [{"index": 0, "id": f"c{nth}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}]
            message = {"role": "assistant", "content": words, **({"tool_calls": calls} if call else {})}
            whole = {"id": "c", "created": 1, "model": "stand-in", "usage": usage}
            reason = "tool_calls" if call else "stop"
            if not body.get("stream"):
                return self.reply({**whole, "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}]})
            chunk = {**whole, "object": "chat.completion.chunk"}
            self.events(
                (None, {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
                (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
            )

    def events(self, *events):
        lines = [(f"event: {name}\n" if name else "") + f"data: {json.dumps({**({'type': name} if name else {}), **data})}\n\n" for name, data in events]
        self.send("".join(lines) + ("data: [DONE]\n\n" if "/chat/" in self.path else ""), "text/event-stream")

    def reply(self, value):
        self.send(json.dumps(value), "application/json")

    def send(self, text, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def strings(value):
    """Yields all texts of a value of JSON."""
    if isinstance(value, str):
        yield value
    for item in value if isinstance(value, list) else value.values() if isinstance(value, dict) else []:
        yield from strings(item)


def commands(host, market):
    """Returns the host's commands: install, list, update, remove; and the arguments of one question."""
    name = f"{NAME}@{NAME}"
    return {
        "claude-code": (
            [["claude", "plugin", "marketplace", "add", market], ["claude", "plugin", "install", name]],
            ["claude", "mcp", "list"],
            [["claude", "plugin", "marketplace", "update", NAME], ["claude", "plugin", "update", name]],
            [["claude", "plugin", "uninstall", name], ["claude", "plugin", "marketplace", "remove", NAME]],
            ["claude", "--permission-mode", "acceptEdits", "--allowedTools", "Edit,Read,LSP,mcp__plugin_lsp-tools_lsp-tools", "-p"],
        ),
        "codex": (
            [["codex", "plugin", "marketplace", "add", market], ["codex", "plugin", "add", name]],
            ["codex", "mcp", "list"],
            [["codex", "plugin", "add", name]],
            [["codex", "plugin", "remove", name], ["codex", "plugin", "marketplace", "remove", NAME]],
            ["codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"],
        ),
        "copilot-cli": (
            [["copilot", "plugin", "marketplace", "add", market], ["copilot", "plugin", "install", name]],
            ["copilot", "mcp", "list"],
            [["copilot", "plugin", "marketplace", "update", NAME], ["copilot", "plugin", "update", name]],
            [["copilot", "plugin", "uninstall", name], ["copilot", "plugin", "marketplace", "remove", NAME]],
            ["copilot", "--allow-all-tools", "--no-auto-update", "--no-color", "-p"],
        ),
        "gemini": (
            [["gemini", "extensions", "install", "--consent", "--skip-settings", f"{market}/gemini"]],
            ["gemini", "mcp", "list"],
            [["gemini", "extensions", "update", NAME]],
            [["gemini", "extensions", "uninstall", NAME]],
            ["gemini", "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust", "-p"],
        ),
        "qwen-code": (
            [["qwen", "extensions", "install", "--consent", f"{market}/qwen-code"]],
            ["qwen", "mcp", "list"],
            [["qwen", "extensions", "update", NAME]],
            [["qwen", "extensions", "uninstall", NAME]],
            ["qwen", "--auth-type", "openai", "--approval-mode", "yolo", "-p"],
        ),
        # It has no command for plugins, and installs packages in each folder with settings.
        "opencode": (
            [["sh", "-c", f"mkdir -p ~/.config && cp -rT '{market}/opencode' ~/.config/opencode"]],
            ["opencode", "mcp", "list"],
            None,
            None,
            ["opencode", "run"],
        ),
    }[host]


def call(host):
    """Returns the steps with which the host's model calls our tool; some hosts let it search for tools first."""
    if host == "claude-code":
        name = "mcp__plugin_lsp-tools_lsp-tools__lsp_definition"
        return [("ToolSearch", {"query": f"select:{name},LSP"}), (name, PLACE)]
    if host == "codex":
        return [("tool_search", {"query": "where a symbol is defined"}), ("lsp_definition", PLACE)]
    if host == "qwen-code":
        name = "mcp__lsp-tools__lsp_definition"
        return [("tool_search", {"query": f"select:{name}"}), ("tool_call", {"name": name, "arguments": PLACE})]
    return [("lsp_definition", PLACE)]


def native(host, path):
    """Returns the step with which the host's model uses the host's own tool for language servers."""
    if host == "claude-code":
        return [("LSP", {"operation": "goToDefinition", "filePath": path, "line": 9, "character": 13})]
    if host == "copilot-cli":
        return [("lsp", {"operation": "goToDefinition", "file": path, "line": 9, "character": 13})]
    return []


def edit(host, path):
    """Returns the steps with which the host's model edits the file."""
    if host == "claude-code":
        return [("Read", {"file_path": path}), ("Edit", {"file_path": path, "old_string": OLD, "new_string": NEW})]
    if host == "copilot-cli":
        return [("view", {"path": path}), ("edit", {"path": path, "old_str": OLD, "new_str": NEW})]
    if host == "gemini":
        return [("read_file", {"file_path": path}), ("replace", {"file_path": path, "instruction": "x", "old_string": OLD, "new_string": NEW})]
    if host == "qwen-code":
        return [("read_file", {"file_path": path}), ("edit", {"file_path": path, "old_string": OLD, "new_string": NEW})]
    if host == "opencode":
        return [("read", {"filePath": path}), ("edit", {"filePath": path, "oldString": OLD, "newString": NEW})]
    line, rest = "def compose(person: Person, *, shout: bool = False) -> str:", '\n     """Compose a greeting in the person\'s own language.\n'
    new = line.replace(OLD, NEW)
    return [("apply_patch", f"*** Begin Patch\n*** Update File: greet/messages.py\n@@\n-{line}\n+{new}{rest}*** End Patch\n")]


def settings(host, home, project, model):
    """Writes the host's own settings, and returns its variables."""
    def put(name, text):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text if isinstance(text, str) else json.dumps(text))

    if host == "claude-code":
        return {"ANTHROPIC_BASE_URL": model.address, "ANTHROPIC_API_KEY": "none", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    if host == "codex":
        put(".codex/config.toml", f'model = "gpt-5.5"\nmodel_provider = "stand-in"\n[model_providers.stand-in]\nname = "stand-in"\nbase_url = "{model.address}/v1"\nwire_api = "responses"\n[projects."{project}"]\ntrust_level = "trusted"\n')
        return {}
    if host == "copilot-cli":
        put(".copilot/config.json", {"trustedFolders": [str(project)], "trusted_folders": [str(project)]})
        # It unpacks itself into that cache.
        return {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{model.address}/v1", "COPILOT_MODEL": "stand-in", "XDG_CACHE_HOME": str(ROOT / "target/test-copilot")}
    if host == "gemini":
        put(".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"disableAutoUpdate": True}, "privacy": {"usageStatisticsEnabled": False}})
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model.address, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    if host == "qwen-code":
        put(".qwen/settings.json", {"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}})
        return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{model.address}/v1", "OPENAI_MODEL": "stand-in"}
    name = "anthropic/claude-sonnet-4-5"
    models = {"claude-sonnet-4-5": {"name": "stand-in", "tool_call": True, "limit": {"context": 100000, "output": 4000}}}
    own = {"model": name, "small_model": name, "autoupdate": False, "share": "disabled", "provider": {"anthropic": {"options": {"baseURL": f"{model.address}/v1", "apiKey": "none"}, "models": models}}}
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(own), "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}


def installed(host):
    """Returns the host's version, and installs the host if it is absent, like the tests of hooks."""
    pins = dict(re.findall(r'name: "([\w-]+)",\s*(?://[^\n]*\s*)?package: "([^"]+)"', (ROOT / "tests/host_hook/real.rs").read_text()))
    packages = pins[host].split()
    manifest = HOSTS / host / "node_modules" / packages[0].rsplit("@", 1)[0] / "package.json"
    if not manifest.exists():
        subprocess.run(["npm", "install", "--no-fund", "--no-audit", "--prefix", HOSTS / host, *packages], check=True, stdout=sys.stderr, timeout=900)
    return json.loads(manifest.read_text())["version"]


class Scene:
    """An empty home, a project with a commit, a copy of the plugin, and a host with its model."""

    def __init__(self, host, program, folder):
        self.program, self.home, self.project, self.market = program, folder / "home", folder / "project", folder / "plugin"
        self.model = Model()
        data = self.home / ".local/share"
        data.mkdir(parents=True)
        (data / NAME).symlink_to(SERVERS)
        shutil.copytree(ROOT / "plugin", self.market)
        shutil.copytree(ROOT / "fixtures/python", self.project)
        paths = [str(program.parent), str(HOSTS / host / "node_modules/.bin"), os.environ["PATH"]]
        self.environment = {"PATH": os.pathsep.join(paths), "HOME": str(self.home), "PWD": str(self.project), "TERM": "dumb"}
        self.environment.update(settings(host, self.home, self.project, self.model))
        author = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
        for words in (["init", "-q"], ["add", "-A"], [*author, "commit", "-q", "-m", "x"]):
            subprocess.run(["git", *words], cwd=self.project, env=self.environment, check=True)

    def run(self, words, answer="y\n"):
        """Returns whether a command succeeded, and its output."""
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen(words, cwd=self.project, env=self.environment, text=True, start_new_session=True, **streams) as host:
            try:
                output = host.communicate(answer, timeout=LIMIT)[0]
            except subprocess.TimeoutExpired:
                # Its children hold the pipe too.
                os.killpg(host.pid, signal.SIGKILL)
                output = f"no end of `{' '.join(words[:3])}` within {LIMIT} s"
        if VERBOSE:
            print("$", *words, output, sep="\n", file=sys.stderr)
        return host.returncode == 0, output

    def run_all(self, all_words):
        """Returns True, or the reason of the first failure."""
        for words in all_words:
            good, output = self.run(words)
            if not good:
                return reason(f"`{' '.join(words[:3])}`: {output}")
        return True

    def ask(self, question, steps):
        """Runs a session of the host in which its model takes these steps, in the project as committed."""
        subprocess.run(["git", "checkout", "-q", "."], cwd=self.project, env=self.environment, check=True)
        self.model.begin(steps)
        self.run([*question, "Give compose a greeting."], "")
        if VERBOSE and self.model.requests:
            last = self.model.requests[-1]
            print(json.dumps(last.get("messages") or last.get("contents") or last.get("input"))[-6000:], file=sys.stderr)

    def end(self):
        self.stop_daemons()
        self.model.shutdown()

    def stop_daemons(self):
        subprocess.run([self.program, "daemon", "stop", "--all"], env=self.environment, capture_output=True, timeout=60)

    def left(self):
        """Returns the folders of the home with a copy of a file of the plugin, up to its name."""
        own = {file.read_bytes() for folder in (self.market, ROOT / "plugin") for file in folder.rglob("*") if file.is_file()}
        found = [path for path in self.home.rglob("*") if path.is_file() and path.read_bytes() in own]
        return sorted({re.sub(rf"({NAME}).*", r"\1", str(path.relative_to(self.home))) for path in found})


def reason(text):
    """Returns the last lines of a text as the reason of a failure, short enough for a cell."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return "no: " + (re.sub(r"\s+", " ", text).replace("|", "/").strip()[-120:] or "nothing was read")


def seen(text, *marks):
    """Returns True if the model read all marks."""
    return True if all(mark in text for mark in marks) else reason(text)


def tried(host, scene):
    """Returns the row of a host."""
    model, path = scene.model, str(scene.project / "greet/messages.py")
    install, listing, update, remove, question = commands(host, str(scene.market))
    row = {"install": scene.run_all(install)}
    shown = scene.run(listing)[1]

    edits, lead = edit(host, path), [*call(host), *native(host, str(scene.project / "greet/app.py"))]
    told = ("lsp-tools, about this edit:", "greet/app.py:9:13: error: Argument missing")
    # Listing the plugins may have started the daemon.
    scene.stop_daemons()
    scene.ask(question, edits)
    row["hook cold"] = seen(model.read_after(len(edits) - 1), *told)
    scene.ask(question, [*lead, *edits])
    first = len(call(host)) - 1
    row["loop"] = seen(model.read_after(first), "greet/messages.py", "8:5", "complete")
    if native(host, path):
        row["LSP tool"] = seen(model.read_after(first + 1), "messages.py:8")
    after = model.read_after(len(lead) + len(edits) - 1)
    row["hook warm"] = seen(after, *told)
    if host != "opencode":
        row["gate"] = seen(after, "lsp-tools, about this turn's edits", "greet/app.py:9:13: error: Argument missing")
    # Some hosts list only the configuration; a tool, or its description, comes from the running server.
    offered = any(name.endswith("lsp_definition") for name in model.offered) or "Real language servers and safe file tools" in model.read_first()
    row["connected"] = NAME in shown and (re.search(r"(?i)(?<!dis)connected", shown) is not None or offered) or reason(shown)

    if update:
        now = json.loads((scene.market / ".claude-plugin/marketplace.json").read_text())["plugins"][0]["version"]
        for file in scene.market.rglob("*.json"):
            file.write_text(file.read_text().replace(now, LATER))
        row["update"] = scene.run_all(update)
        if row["update"] is True:
            # The hook of the newer plugin reports that the program is older.
            scene.ask(question, [])
            newer = f"has version {LATER}, and the program another one" in model.read_first()
            row["update"] = newer or "no: the hook of the newer version says nothing"
        row["remove"] = scene.run_all(remove)
        if row["remove"] is True and NAME in scene.run(listing)[1]:
            row["remove"] = "no: it is still listed"
        if row["remove"] is True and (left := scene.left()):
            row["remove"] = f"no: leaves {', '.join(f'`{name}`' for name in left)}"
    else:
        row["install"] = "-" if row["install"] is True else row["install"]
    return row


def main():
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit("usage: tests/hosts/plugin.py PROGRAM [HOST…], with a built PROGRAM")
    if unknown := set(sys.argv[2:]) - TITLES.keys():
        sys.exit(f"no such host: {', '.join(sorted(unknown))}; the hosts are {', '.join(TITLES)}")
    if not (SERVERS / "servers/pyright").is_dir():
        sys.exit(f"no pyright in {SERVERS}; `just test` installs it")
    program, hosts, page = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or list(TITLES), PAGE.read_text()
    fails = False
    lines = ["| host | " + " | ".join(COLUMNS) + " |", "|" + "---|" * (len(COLUMNS) + 1)]
    print("\n".join(lines), flush=True)
    for host in hosts:
        version = installed(host)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            scene = Scene(host, program, pathlib.Path(folder).resolve())
            try:
                row = tried(host, scene)
            finally:
                scene.end()
        cells = [{True: "yes"}.get(cell, cell) for cell in (row.get(name, "-") for name in COLUMNS)]
        lines.append(f"| {TITLES[host]} {version} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
        fails |= any(cell.startswith("no: ") and cell not in page for cell in cells)
    if len(hosts) == len(TITLES):
        table = "\n".join(lines)
        page, count = re.subn(r"(<!-- hosts -->\n).*?(<!-- /hosts -->)", lambda match: f"{match[1]}{table}\n{match[2]}", page, flags=re.S)
        if count != 1:
            sys.exit(f"{PAGE} has no place for the table")
        PAGE.write_text(page)
    sys.exit(fails)


main()
