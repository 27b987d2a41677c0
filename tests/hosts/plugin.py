#!/usr/bin/env python3
"""Installs the plugin in real hosts in empty homes, asks through it with a stand-in for the model, updates it and removes it.

    tests/hosts/plugin.py PROGRAM [HOST…]    prints a table; hosts are taken from target/test-hosts, or from HOSTS_DIR
"""
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "plugin"
HOSTS = pathlib.Path(os.environ.get("HOSTS_DIR", ROOT / "target/test-hosts"))
PLACE = {"at": "greet/app.py:9:compose"}
FOUND = "greet/messages.py"
OLD, NEW = "person: Person, *,", "person: Person, greeting: str, *,"
COLUMNS = ["install", "connected", "loop", "native", "hook", "update", "remove", "left"]


class Model(http.server.ThreadingHTTPServer):
    """A stand-in for the model: calls the tools of `steps` in order, then says a word."""

    def __init__(self, steps):
        super().__init__(("127.0.0.1", 0), Answer)
        self.steps, self.requests, self.address = steps, [], f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


def names(value):
    """Yields the names of the tools of a request, also those in a namespace or group."""
    for tool in value if isinstance(value, list) else []:
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
        if "count" in self.path or not tools:
            return self.say(body, "Nothing.", None, 0) if tools or "count" not in self.path else self.reply({"input_tokens": 1, "totalTokens": 1})
        self.server.requests.append(body)
        text = json.dumps(body)
        marks = ['"tool_result"', '"functionResponse"', '"function_call_output"', '"custom_tool_call_output"', '"role": "tool"']
        done = sum(text.count(mark) for mark in marks)
        if done >= len(self.server.steps):
            return self.say(body, "Done.", None, done)
        wanted, arguments = self.server.steps[done]
        found = [pair for pair in tools if pair[0] == wanted or pair[0].endswith(wanted)]
        name, space = found[0] if found else (wanted, None)
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
    """Yields the texts of tool results and hooks in a request."""
    if isinstance(value, str):
        yield value
    for item in value if isinstance(value, list) else value.values() if isinstance(value, dict) else []:
        yield from strings(item)


def commands(host):
    """Returns the host's commands: install, list, update, remove; and the arguments of one question."""
    market, name = str(PLUGIN), "lsp-tools@lsp-tools"
    return {
        "claude-code": (
            [["claude", "plugin", "marketplace", "add", market], ["claude", "plugin", "install", name]],
            ["claude", "mcp", "list"], ["claude", "plugin", "update", name],
            [["claude", "plugin", "uninstall", name], ["claude", "plugin", "marketplace", "remove", "lsp-tools"]],
            ["claude", "--permission-mode", "acceptEdits", "--allowedTools", "Edit,Read,LSP,mcp__plugin_lsp-tools_lsp-tools", "-p"],
        ),
        "codex": (
            [["codex", "plugin", "marketplace", "add", market], ["codex", "plugin", "add", name]],
            ["codex", "mcp", "list"], ["codex", "plugin", "add", name],
            [["codex", "plugin", "remove", name], ["codex", "plugin", "marketplace", "remove", "lsp-tools"]],
            ["codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"],
        ),
        "copilot-cli": (
            [["copilot", "plugin", "install", f"{market}/copilot-cli"]],
            ["copilot", "mcp", "list"], ["copilot", "plugin", "update", "lsp-tools"],
            [["copilot", "plugin", "uninstall", "lsp-tools"]],
            ["copilot", "--allow-all-tools", "--no-auto-update", "--no-color", "-p"],
        ),
        "gemini": (
            [["gemini", "extensions", "install", "--consent", "--skip-settings", f"{market}/gemini"]],
            ["gemini", "mcp", "list"], ["gemini", "extensions", "update", "lsp-tools"],
            [["gemini", "extensions", "uninstall", "lsp-tools"]],
            ["gemini", "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust", "-p"],
        ),
        "qwen-code": (
            [["qwen", "extensions", "install", "--consent", f"{market}/qwen-code"]],
            ["qwen", "mcp", "list"], ["qwen", "extensions", "update", "lsp-tools"],
            [["qwen", "extensions", "uninstall", "lsp-tools"]],
            ["qwen", "--auth-type", "openai", "--approval-mode", "yolo", "-p"],
        ),
        "opencode": (
            [["cp", "-rT", f"{market}/opencode", "HOME/.config/opencode"]],
            ["opencode", "mcp", "list"], ["cp", "-rT", f"{market}/opencode", "HOME/.config/opencode"],
            [["rm", "-r", "HOME/.config/opencode"]],
            ["opencode", "run"],
        ),
    }[host]


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


def tried(host, program, folder):
    """Returns the row of a host."""
    home, project = folder / "home", folder / "project"
    (folder / "run").mkdir(parents=True, mode=0o700)
    home.mkdir()
    shutil.copytree(ROOT / "fixtures/python", project)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    path = str(project / "greet/messages.py")
    native = [("LSP", {"operation": "goToDefinition", "filePath": str(project / "greet/app.py"), "line": 9, "character": 13})]
    native = native if host == "claude-code" else []
    model = Model([("lsp_definition", PLACE) if host != "claude-code" else ("mcp__plugin_lsp-tools_lsp-tools__lsp_definition", PLACE), *native, *edit(host, path)])
    path_list = [str(program.parent), str(HOSTS / host / "node_modules/.bin"), os.environ["PATH"]]
    environment = {"PATH": os.pathsep.join(path_list), "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_RUNTIME_DIR": str(folder / "run"), "LSP_TOOLS_DATA_DIR": os.environ.get("LSP_TOOLS_DATA_DIR", str(ROOT / "target/test-servers")), "LSP_TOOLS_STATE_DIR": str(folder / "state"), "TERM": "dumb"}
    environment.update(settings(host, home, project, model))

    def run(words, answer="y\n"):
        words = [word.replace("HOME", str(home)) for word in words]
        try:
            ran = subprocess.run(words, cwd=project, env=environment, input=answer, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired as late:
            return False, f"{words}: {late}"
        if os.environ.get("VERBOSE"):
            print("$", *words, ran.stdout, ran.stderr, sep="\n", file=sys.stderr)
        return ran.returncode == 0, ran.stdout + ran.stderr

    install, listing, update, remove, question = commands(host)
    row = {}
    (home / ".config").mkdir(exist_ok=True)
    row["install"] = all(run(words)[0] for words in install)
    shown = run(listing)[1]
    row["connected"] = "connected" if "onnected" in shown and "isconnected" not in shown else "listed" if "lsp-tools" in shown else False
    subprocess.run([program, "check", "greet", "--timeout", "60"], cwd=project, env=environment, capture_output=True)
    run([*question, "Give compose a greeting."], "")
    told = list(strings(model.requests[-1])) if model.requests else []
    row["loop"] = any("messages.py" in text and '"at"' not in text and "8:5" in text for text in told)
    row["native"] = any("Defined in" in text or "efinition" in text and "messages.py:8" in text for text in told) if native else None
    row["hook"] = any("lsp-tools, about this edit" in text for text in told)
    if os.environ.get("VERBOSE") and model.requests:
        last = model.requests[-1]
        print(json.dumps(last.get("messages") or last.get("contents") or last.get("input"))[-6000:], file=sys.stderr)
    row["update"] = run(update)[0]
    row["remove"] = all(run(words)[0] for words in remove)
    row["left"] = sorted({str(found.relative_to(home)) for found in home.rglob("lsp-tools*") if "state" not in found.parts and "mcp-logs" not in str(found)})
    subprocess.run([program, "daemon", "stop", "--all"], env=environment, capture_output=True)
    model.shutdown()
    return row


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    hosts = sys.argv[2:] or ["claude-code", "codex", "copilot-cli", "gemini", "qwen-code", "opencode"]
    print("| host | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (len(COLUMNS) + 1))
    good = True
    for host in hosts:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            row = tried(host, program, pathlib.Path(folder).resolve())
        words = {True: "yes", False: "**no**", None: "–"}
        cells = [words.get(cell, cell) if not isinstance(cell, list) else ", ".join(cell) or "nothing" for cell in (row[name] for name in COLUMNS)]
        print(f"| {host} | " + " | ".join(cells) + " |", flush=True)
        good &= False not in row.values()
    sys.exit(not good)


main()
