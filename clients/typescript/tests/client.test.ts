// Tests of the client on a real program; `clients/test` runs them.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, cpSync, createReadStream, mkdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, test } from "node:test";

import * as lsp from "lsp-tools-client";

const STAGE = process.env.CLIENTS_STAGE ?? "";
const PACKAGED = process.env.CLIENTS_PACKAGED ?? "";
// Holds the pipe open until it is killed.
const command = "exec >pipe; echo begun; sleep 600";
const LINE = '"""Greets everybody."""\n';
let workspace = "";
let client = new lsp.Client();
let number = 0;

function open(options: lsp.ClientOptions = {}): lsp.Client {
  client = new lsp.Client({ workspace, ...options });
  return client;
}

function daemon(program = PACKAGED): number {
  const words = ["--workspace", workspace, "daemon", "status", "--format", "json"];
  return (JSON.parse(execFileSync(program, words, { encoding: "utf8" })) as { pid: number }).pid;
}

async function firstLine(): Promise<string> {
  return (await client.read({ path: "greet/app.py", limit: 1 })).value.content ?? "";
}

/** Waits until the command has begun, does `act`, and waits until the command is ended. */
async function untilEnded(act: () => void): Promise<void> {
  const lines = createInterface({ input: createReadStream(join(workspace, "pipe")) });
  const ended = new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the command was not ended")), 30_000);
    lines.once("close", () => resolve(clearTimeout(late)));
  });
  await new Promise((resolve) => lines.once("line", resolve));
  act();
  await ended;
}

beforeEach(() => {
  workspace = join(STAGE, `projects/typescript-${++number}/a/b/c/d`);
  mkdirSync(workspace, { recursive: true });
  cpSync(join(STAGE, "fixture"), workspace, { recursive: true });
  execFileSync("mkfifo", [join(workspace, "pipe")]);
});

afterEach(async () => {
  await client.close();
  spawnSync(PACKAGED, ["daemon", "stop", "--all"]);
});

test("the packaged program is found before that on PATH", async () => {
  open();
  assert.equal(await firstLine(), LINE);
  assert.equal(statSync(`/proc/${daemon()}/exe`).ino, statSync(PACKAGED).ino);
});

test("a verdict other than complete cannot be overlooked", async () => {
  const answer = await open({ options: ["--timeout", "0.001"] }).lsp_hover({ at: "greet/messages.py:compose" });
  assert.deepEqual([answer.verdict, answer.complete], ["hints", false]);
  assert.match(answer.raw.contents, /compose/);
  assert.throws(() => answer.value, { name: "IncompleteAnswer", message: /lsp_hover answered `hints`, not `complete`: .*; `raw` has what is known/ });
});

test("a failure has its code", async () => {
  await assert.rejects(open().read({ path: "none.py" }), { name: "ToolFailed", code: "not_found", message: /`none.py` does not exist/ });
  await assert.rejects(client.call("none", {}), { name: "ToolFailed", message: /unknown tool: none/ });
});

test("a late call is cancelled", async () => {
  const ended = untilEnded(() => {});
  await assert.rejects(open().bash({ command }, { timeoutMs: 3_000 }), { name: "CallTimeout", message: /bash did not answer within 3000 ms/ });
  await ended;
  assert.equal(await firstLine(), LINE);
});

test("an aborted call reaches the server", async () => {
  const controller = new AbortController();
  const ended = untilEnded(() => controller.abort());
  await assert.rejects(open().bash({ command }, { signal: controller.signal }), { name: "AbortError" });
  await ended;
  assert.equal(await firstLine(), LINE);
  await assert.rejects(client.bash({ command }, { signal: controller.signal }), { name: "AbortError" });
});

for (const [name, kind, says] of [
  ["nowhere", "ProgramMissing", /cannot be run: .*ENOENT.*install the package lsp-tools/],
  ["old", "ProgramTooOld", /is lsp-tools 0\.0\.9, and this package needs .*install the package lsp-tools/],
  ["without_mcp", "ProgramUnusable", /status 2; error: unrecognized subcommand 'mcp'.*install the package lsp-tools/],
  ["other", "ProgramUnusable", /is not lsp-tools/],
  ["silent", "CallTimeout", /within 1000 ms/],
] as const) {
  test(`a wrong program is a typed error: ${name}`, async () => {
    const call = open({ program: join(STAGE, name), timeoutMs: name === "silent" ? 1_000 : 60_000 }).read({ path: "greet/app.py" });
    await assert.rejects(call, (error: lsp.LspToolsError) => error instanceof lsp[kind] && error.name === kind && says.test(error.message));
  });
}

test("without a program the error says how to install it", async () => {
  const path = process.env.PATH;
  renameSync(PACKAGED, `${PACKAGED}-hidden`);
  process.env.PATH = "planted";
  try {
    await assert.rejects(open().read({ path: "greet/app.py" }), { name: "ProgramMissing", message: /install the package lsp-tools/ });
  } finally {
    process.env.PATH = path;
    renameSync(`${PACKAGED}-hidden`, PACKAGED);
  }
});

test("a killed program is a typed error, and the next call starts it again", async () => {
  const ended = untilEnded(() => process.kill(Number(readFileSync(join(STAGE, "recorded.pid"), "utf8")), "SIGKILL"));
  await assert.rejects(open({ program: join(STAGE, "recorded") }).bash({ command }), { name: "ProgramEnded", message: /ended with signal SIGKILL/ });
  await ended;
  assert.equal(await firstLine(), LINE);
});

test("a daemon killed between calls is replaced by the newer program", async () => {
  const program = join(STAGE, "npm/replaced/lsp-tools");
  mkdirSync(join(STAGE, "npm/replaced"));
  copyFileSync(PACKAGED, program);
  open({ program });
  assert.equal(await firstLine(), LINE);
  const first = daemon(program);
  copyFileSync(program, `${program}-new`);
  appendFileSync(`${program}-new`, "\0");
  renameSync(`${program}-new`, program);
  process.kill(first, "SIGKILL");
  assert.equal(await firstLine(), LINE);
  const second = daemon(program);
  assert.notEqual(first, second);
  assert.equal(statSync(`/proc/${second}/exe`).ino, statSync(program).ino);
});

test("a daemon lost during a change is a typed error", async () => {
  const ended = untilEnded(() => process.kill(daemon(), "SIGKILL"));
  await assert.rejects(open().bash({ command }), { name: "DaemonLost", message: /may or may not have taken effect/ });
  await ended;
  assert.equal(await firstLine(), LINE);
});

test("a closed client says so", async () => {
  await open().close();
  await assert.rejects(client.read({ path: "greet/app.py" }), { name: "LspToolsError", message: /closed/ });
});
