"""The clients: one `lsp-tools mcp` process each, which shares the daemon of its workspace."""

import asyncio
import itertools
import json
import os
import re
import shutil
import threading
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from typing import Any, Self, TypeVar

from .answer import Answer, CallTimeout, DaemonLost, LspToolsError, ProgramEnded, ProgramMissing, ProgramTooOld, ProgramUnusable, ToolFailed
from .tools import READING, VERSION, AsyncTools, Tools

T = TypeVar("T")
Folder = str | os.PathLike[str]
NAME = "lsp-tools"
INSTALL = f"install the package {NAME} that was made with this one"
UPDATE = f"update it: {INSTALL}"
LONGEST_LINE = 64 << 20
CLOSE_S, DRAIN_S = 5.0, 1.0


def find_program() -> str:
    """Returns the program of the package `lsp-tools`, else that on PATH, of which relative folders are left out."""
    with suppress(metadata.PackageNotFoundError):
        for file in metadata.files(NAME) or []:
            if file.name == NAME and os.access(path := os.path.realpath(file.locate()), os.X_OK):
                return path
    folders = filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep))
    if found := shutil.which(NAME, path=os.pathsep.join(folders)):
        return found
    raise ProgramMissing(f"the program {NAME} is neither installed beside this package nor on PATH; {INSTALL}")


def numbers_of(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]


class Connection:
    """A running program, and the calls that wait for it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin and process.stdout and process.stderr
        self.process, self.stdin = process, process.stdin
        self.waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.numbers = itertools.count(1)
        self.ended: str | None = None
        self.errors: deque[str] = deque(maxlen=5)
        self.error_reader = asyncio.create_task(self.read_errors(process.stderr))
        self.reader = asyncio.create_task(self.read(process.stdout))

    @classmethod
    async def open(cls, program: str, words: Sequence[str]) -> Self:
        """Starts the program and checks its version."""
        pipe = asyncio.subprocess.PIPE
        try:
            # In a session of its own, Ctrl-C reaches it only as a cancelled call.
            options: dict[str, Any] = {"stdin": pipe, "stdout": pipe, "stderr": pipe, "limit": LONGEST_LINE, "start_new_session": True}
            self = cls(await asyncio.create_subprocess_exec(program, *words, **options))
        except OSError as error:
            raise ProgramMissing(f"{program} cannot be run: {error.strerror}; name another program, or {INSTALL}") from error
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": f"{NAME}-client", "version": VERSION}}
        try:
            server = (await self.request("initialize", about)).get("result", {}).get("serverInfo", {})
            if server.get("name") != NAME:
                raise ProgramUnusable(f"{program} is not {NAME}; name another program, or {INSTALL}")
            if numbers_of(server["version"]) < numbers_of(VERSION):
                raise ProgramTooOld(f"{program} is {NAME} {server['version']}, and this package needs {VERSION} or later; {UPDATE}")
        except ProgramEnded as error:
            raise ProgramUnusable(f"{program} did not start: {error}; correct that, or {UPDATE}") from None
        except BaseException:
            self.kill()
            await asyncio.wait([self.reader])
            raise
        self.send({"method": "notifications/initialized"})
        return self

    def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()

    def send(self, message: dict[str, Any]) -> None:
        if not self.stdin.is_closing():
            self.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Sends a request and returns its response; if the caller is cancelled, so is the request."""
        if self.ended is not None:
            raise ProgramEnded(self.ended)
        number = next(self.numbers)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.waiting[number] = answer
        try:
            self.send({"id": number, "method": method, "params": params})
            with suppress(ConnectionError):  # The reader reports a program that has ended.
                await self.stdin.drain()
            return await answer
        except asyncio.CancelledError:
            self.send({"method": "notifications/cancelled", "params": {"requestId": number}})
            raise
        finally:
            del self.waiting[number]

    async def read_errors(self, stream: asyncio.StreamReader) -> None:
        while line := await stream.readline():
            self.errors.append(line.decode(errors="replace").strip())

    async def read(self, stream: asyncio.StreamReader) -> None:
        """Passes on the responses until the program ends."""
        try:
            while line := await stream.readline():
                message = json.loads(line)
                answer = self.waiting.get(message.get("id"))
                if "method" in message and "id" in message:
                    self.send({"id": message["id"], "error": {"code": -32601, "message": "this client answers no requests"}})
                elif "method" not in message and answer and not answer.done():
                    answer.set_result(message)
        except (ValueError, AttributeError, TypeError) as error:
            self.errors.append(f"it wrote an invalid line: {error}")
        with suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), CLOSE_S)
        self.kill()
        status = await self.process.wait()
        # A child of the program may still hold its standard error.
        await asyncio.wait([self.error_reader], timeout=DRAIN_S)
        self.error_reader.cancel()
        self.stdin.close()
        how = f"signal {-status}" if status < 0 else f"status {status}"
        self.ended = "; ".join([f"{NAME} ended with {how}", *filter(None, self.errors)])
        for answer in self.waiting.values():
            if not answer.done():
                answer.set_exception(ProgramEnded(self.ended))

    async def close(self) -> None:
        """Ends the program: by the end of its input, or by force."""
        self.stdin.close()
        await asyncio.wait([self.reader], timeout=CLOSE_S)
        self.kill()
        await self.reader


class AsyncClient(AsyncTools):
    """Calls tools from an event loop. The first call starts the program."""

    def __init__(self, workspace: Folder | None = None, *, program: Folder | None = None, timeout_s: float = 300, options: Sequence[str] = ()) -> None:
        """Opens `workspace` (default: that of the current folder); `options` are global options of the program."""
        folder = () if workspace is None else ("--workspace", os.fspath(workspace))
        self._words = (*options, *folder, "mcp", "--profile", "all")
        self._program = None if program is None else os.fspath(program)
        self._timeout_s = timeout_s
        self._opening = asyncio.Lock()
        self._connection: Connection | None = None
        self._closed = False

    async def _connected(self) -> Connection:
        async with self._opening:
            if self._closed:
                raise LspToolsError("the client is closed; open another one")
            if self._connection is None or self._connection.ended is not None:
                self._connection = await Connection.open(self._program or find_program(), self._words)
            return self._connection

    async def call(self, name: str, arguments: Mapping[str, object], *, timeout_s: float | None = None) -> Answer[Any]:
        limit, lost = self._timeout_s if timeout_s is None else timeout_s, ""
        try:
            async with asyncio.timeout(limit):
                for _ in range(2 if name in READING else 1):
                    connection = await self._connected()
                    message = await connection.request("tools/call", {"name": name, "arguments": dict(arguments)})
                    if "error" in message:
                        raise ToolFailed(name, {"code": "unknown_tool", "error": message["error"]["message"]})
                    answer = message["result"].get("structuredContent")
                    if answer is not None and not answer.get("ok"):
                        raise ToolFailed(name, answer)
                    if answer is not None:
                        return Answer(name, answer)
                    lost = message["result"]["content"][0]["text"]
        except TimeoutError:
            raise CallTimeout(f"{name} did not answer within {limit:g} s and was cancelled; pass a longer timeout_s") from None
        raise DaemonLost(f"{name}: {lost}")

    async def close(self) -> None:
        """Ends the program. The daemon stays, with its warm servers."""
        async with self._opening:
            self._closed = True
            if self._connection:
                await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class Client(Tools):
    """Calls tools without an event loop. Threads can share it; Ctrl-C and `close` cancel calls."""

    def __init__(self, workspace: Folder | None = None, *, program: Folder | None = None, timeout_s: float = 300, options: Sequence[str] = ()) -> None:
        """Opens `workspace` (default: that of the current folder); `options` are global options of the program."""
        self._client = AsyncClient(workspace, program=program, timeout_s=timeout_s, options=options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=NAME, daemon=True)
        self._thread.start()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return task.result()
        finally:
            task.cancel()

    def call(self, name: str, arguments: Mapping[str, object], *, timeout_s: float | None = None) -> Answer[Any]:
        if self._loop.is_closed():
            raise LspToolsError("the client is closed; open another one")
        return self._run(self._client.call(name, arguments, timeout_s=timeout_s))

    def close(self) -> None:
        """Ends the program. The daemon stays, with its warm servers."""
        if not self._loop.is_closed():
            self._run(self._client.close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
