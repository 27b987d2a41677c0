"""Tests of both clients on a real program; `clients/test` runs them."""

import asyncio
import json
import os
import shutil
import signal
import threading
import unittest
from pathlib import Path
from subprocess import check_output, run

import lsp_tools_client as lsp
from lsp_tools_client.client import find_program

STAGE = Path(os.environ["CLIENTS_STAGE"])
# Holds the pipe open until it is killed.
LONG = "exec >pipe; echo begun; sleep 600"
LINE = '"""Greets everybody."""\n'


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.project = STAGE / "projects" / self.id() / "a/b/c/d"
        shutil.copytree(STAGE / "fixture", self.project)
        os.mkfifo(self.project / "pipe")
        self.program = find_program()
        # The status is 1 if no daemon runs.
        self.addCleanup(run, [self.program, "daemon", "stop", "--all"], capture_output=True)

    def daemon(self) -> int:
        printed = check_output([self.program, "--workspace", self.project, "daemon", "status", "--format", "json"])
        return int(json.loads(printed)["pid"])

    def first_line(self, client: lsp.Client) -> str:
        return client.read(path="greet/app.py", limit=1).value["content"]

    def test_the_packaged_program_is_found_before_that_on_path(self) -> None:
        self.assertIn("environment", self.program)
        with lsp.Client(self.project) as client:
            self.assertEqual(self.first_line(client), LINE)

    def test_a_verdict_other_than_complete_cannot_be_overlooked(self) -> None:
        with lsp.Client(self.project, options=["--timeout", "0.001"]) as client:
            answer = client.lsp_hover(at="greet/messages.py:compose")
            self.assertEqual((answer.verdict, answer.complete), ("hints", False))
            self.assertIn("compose", answer.raw["contents"])
            with self.assertRaisesRegex(lsp.IncompleteAnswer, "lsp_hover answered `hints`, not `complete`: .*; `raw` has what is known"):
                answer.value

    def test_a_failure_has_its_code(self) -> None:
        with lsp.Client(self.project) as client:
            with self.assertRaisesRegex(lsp.ToolFailed, "`none.py` does not exist") as caught:
                client.read(path="none.py")
            self.assertEqual(caught.exception.code, "not_found")
            with self.assertRaisesRegex(lsp.ToolFailed, "unknown tool: none"):
                client.call("none", {})

    def test_a_late_call_is_cancelled(self) -> None:
        with lsp.Client(self.project) as client, self.cancelled():
            with self.assertRaisesRegex(lsp.CallTimeout, "bash did not answer within 3 s"):
                client.bash(command=LONG, timeout_s=3)
            self.assertEqual(self.first_line(client), LINE)

    def cancelled(self, begun: object = None) -> "PipeEnd":
        return PipeEnd(self, self.project / "pipe", begun)

    def test_ctrl_c_cancels_a_call(self) -> None:
        with lsp.Client(self.project) as client, self.cancelled(lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)):
            with self.assertRaises(KeyboardInterrupt):
                client.bash(command=LONG)
            self.assertEqual(self.first_line(client), LINE)

    def test_a_cancelled_task_reaches_the_server(self) -> None:
        async def main() -> None:
            async with lsp.AsyncClient(self.project) as client:
                begun, loop = asyncio.Event(), asyncio.get_running_loop()
                with self.cancelled(lambda: loop.call_soon_threadsafe(begun.set)):
                    call = asyncio.create_task(client.bash(command=LONG))
                    await begun.wait()
                    call.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await call
                    self.assertTrue((await client.read(path="greet/app.py")).complete)

        asyncio.run(main())

    def test_wrong_programs_are_typed_errors(self) -> None:
        for name, kind, says in [
            ("nowhere", lsp.ProgramMissing, "cannot be run: No such file.*install the package lsp-tools"),
            ("old", lsp.ProgramTooOld, r"is lsp-tools 0\.0\.9, and this package needs .*install the package lsp-tools"),
            ("without_mcp", lsp.ProgramUnusable, "status 2; error: unrecognized subcommand 'mcp'.*install the package lsp-tools"),
            ("other", lsp.ProgramUnusable, "is not lsp-tools"),
            ("silent", lsp.CallTimeout, "within 1 s"),
        ]:
            with self.subTest(name), lsp.Client(self.project, program=STAGE / name, timeout_s=1 if name == "silent" else 60) as client:
                self.assertRaisesRegex(kind, says, client.read, path="greet/app.py")

    def test_without_a_program_the_error_says_how_to_install_it(self) -> None:
        path, os.environ["PATH"] = os.environ["PATH"], "planted"
        hidden = Path(self.program).rename(self.program + "-hidden")
        try:
            with lsp.Client(self.project) as client:
                self.assertRaisesRegex(lsp.ProgramMissing, "install the package lsp-tools", client.read, path="greet/app.py")
        finally:
            hidden.rename(self.program)
            os.environ["PATH"] = path

    def test_a_killed_program_is_a_typed_error_and_the_next_call_starts_it_again(self) -> None:
        with lsp.Client(self.project, program=STAGE / "recorded") as client:
            with self.cancelled(lambda: os.kill(int((STAGE / "recorded.pid").read_text()), signal.SIGKILL)):
                self.assertRaisesRegex(lsp.ProgramEnded, "ended with signal 9", client.bash, command=LONG)
            self.assertEqual(self.first_line(client), LINE)

    def test_a_daemon_killed_between_calls_is_replaced_by_the_newer_program(self) -> None:
        program = STAGE / "python/replaced/lsp-tools"
        program.parent.mkdir(parents=True)
        shutil.copy(self.program, program)
        self.program = str(program)
        with lsp.Client(self.project, program=program) as client:
            self.assertEqual(self.first_line(client), LINE)
            first = self.daemon()
            shutil.copy(program, program.with_name("new"))
            with program.with_name("new").open("ab") as file:
                file.write(bytes(1))
            program.with_name("new").rename(program)
            os.kill(first, signal.SIGKILL)
            self.assertEqual(self.first_line(client), LINE)
            second = self.daemon()
            self.assertNotEqual(first, second)
            self.assertTrue(os.path.samefile(f"/proc/{second}/exe", program))

    def test_a_daemon_lost_during_a_change_is_a_typed_error(self) -> None:
        with lsp.Client(self.project) as client:
            with self.cancelled(lambda: os.kill(self.daemon(), signal.SIGKILL)):
                self.assertRaisesRegex(lsp.DaemonLost, "may or may not have taken effect", client.bash, command=LONG)
            self.assertEqual(self.first_line(client), LINE)

    def test_a_closed_client_says_so(self) -> None:
        client = lsp.Client(self.project)
        client.close()
        client.close()
        self.assertRaisesRegex(lsp.LspToolsError, "closed", client.read, path="greet/app.py")


class PipeEnd:
    """Reads the pipe of a command in a thread, and fails unless the command is ended."""

    def __init__(self, test: unittest.TestCase, pipe: Path, begun: object) -> None:
        self.test, self.pipe, self.begun, self.lines = test, pipe, begun, [""]
        self.thread = threading.Thread(target=self.read, daemon=True)

    def read(self) -> None:
        with self.pipe.open() as pipe:
            self.lines = [pipe.readline()]
            if callable(self.begun):
                self.begun()
            self.lines += [pipe.read()]

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.thread.join(30)
        self.test.assertEqual(self.lines, ["begun\n", ""], "the command was not ended")


if __name__ == "__main__":
    unittest.main(verbosity=2)
