// The client: one `lsp-tools mcp` process, which shares the daemon of its workspace.

import { spawn, type ChildProcessByStdio } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import type { Readable, Writable } from "node:stream";

import { Answer, CallTimeout, DaemonLost, LspToolsError, ProgramEnded, ProgramMissing, ProgramTooOld, ProgramUnusable, ToolFailed } from "./answer.js";
import type { CallOptions, Failure } from "./answer.js";
import { READING, Tools, VERSION } from "./tools.js";

const NAME = "lsp-tools";
const PACKAGE = `install the package ${NAME} that was made with this one`;
const INSTALL = `name another program, or ${PACKAGE}`;
const UPDATE = `update it: ${PACKAGE}`;
const [CLOSE_MS, DRAIN_MS] = [5_000, 1_000];

export interface ClientOptions {
  /** The workspace; by default that of the current folder. */
  workspace?: string;
  /** The program; by default that of the package `lsp-tools`, else that on PATH. */
  program?: string;
  /** The time limit of a call, in milliseconds (300,000). */
  timeoutMs?: number;
  /** Global options of the program. */
  options?: readonly string[];
}

interface Message {
  id?: number;
  method?: string;
  error?: { message: string };
  result?: {
    serverInfo?: { name: string; version: string };
    structuredContent?: Failure & { ok: boolean };
    content?: { text: string }[];
  };
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the program of the package `lsp-tools`, else that on PATH, of which relative folders are left out. */
function findProgram(): string {
  const places = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute);
  try {
    const launcher = createRequire(import.meta.url).resolve(`${NAME}/package.json`);
    const machine = createRequire(launcher).resolve(`@${NAME}/${process.platform}-${process.arch}/package.json`);
    places.unshift(join(dirname(machine), "bin"));
  } catch {
    // Without the package, PATH is searched.
  }
  const found = places.map((folder) => join(folder, NAME)).find(canRun);
  if (found) return found;
  throw new ProgramMissing(`the program ${NAME} is neither installed beside this package nor on PATH; ${PACKAGE}`);
}

function isOlder(version: string, than: string): boolean {
  const [found = [], needed = []] = [version, than].map((text) => (text.match(/\d+/g) ?? []).slice(0, 3).map(Number));
  const place = needed.findIndex((number, index) => number !== found[index]);
  return place >= 0 && (found[place] ?? 0) < (needed[place] ?? 0);
}

/** Does `work` with a signal that the caller or the time limit aborts. */
async function limited<T>(what: string, ms: number, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const scope = new AbortController();
  const stop = (): void => scope.abort(signal?.reason);
  const late = `${what} did not answer within ${ms} ms and was cancelled; pass a longer timeoutMs`;
  const timer = setTimeout(() => scope.abort(new CallTimeout(late)), ms);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  try {
    const aborted = new Promise<never>((_, reject) => scope.signal.addEventListener("abort", () => reject(scope.signal.reason)));
    scope.signal.throwIfAborted();
    return await Promise.race([work(scope.signal), aborted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** A running program, and the calls that wait for it. */
class Connection {
  ended: string | undefined;
  private readonly waiting = new Map<number, { resolve: (message: Message) => void; reject: (error: LspToolsError) => void }>();
  private readonly program: ChildProcessByStdio<Writable, Readable, Readable>;
  private readonly end: Promise<void>;
  private errors: string[] = [];
  private last = 0;

  private constructor(path: string, words: readonly string[]) {
    // In a session of its own, Ctrl-C does not reach it.
    this.program = spawn(path, words, { stdio: ["pipe", "pipe", "pipe"], detached: true });
    let rest = "";
    this.program.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.read(line);
    });
    this.program.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.errors = [...this.errors, ...text.split("\n").filter((line) => line.trim())].slice(-5);
    });
    // The end of the program is reported instead.
    this.program.stdin.on("error", () => {});
    this.end = new Promise((resolve) => {
      const finish = (reason: string, error: LspToolsError): void => {
        this.ended ??= reason;
        for (const { reject } of this.waiting.values()) reject(error);
        resolve();
      };
      this.program.once("error", ({ message }) => finish(message, new ProgramMissing(`${path} cannot be run: ${message}; ${INSTALL}`)));
      // A child of the program may still hold its standard error.
      this.program.once("exit", () => setTimeout(() => this.program.stderr.destroy(), DRAIN_MS).unref());
      this.program.once("close", (status, signal) => {
        const reason = [`${NAME} ended with ${signal ? `signal ${signal}` : `status ${status}`}`, ...this.errors].join("; ");
        finish(reason, new ProgramEnded(reason));
      });
    });
  }

  /** Starts the program and checks its version. */
  static async open(path: string, words: readonly string[], signal: AbortSignal): Promise<Connection> {
    const connection = new Connection(path, words);
    const about = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: `${NAME}-client`, version: VERSION } };
    try {
      const server = (await connection.request("initialize", about, signal)).result?.serverInfo;
      if (server?.name !== NAME) throw new ProgramUnusable(`${path} is not ${NAME}; ${INSTALL}`);
      if (isOlder(server.version, VERSION)) {
        throw new ProgramTooOld(`${path} is ${NAME} ${server.version}, and this package needs ${VERSION} or later; ${UPDATE}`);
      }
    } catch (error) {
      connection.program.kill("SIGKILL");
      if (error instanceof ProgramEnded) throw new ProgramUnusable(`${path} did not start: ${error.message}; correct that, or ${UPDATE}`);
      throw error;
    }
    connection.send({ method: "notifications/initialized" });
    return connection;
  }

  private send(message: object): void {
    if (this.program.stdin.writable) this.program.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  private read(line: string): void {
    try {
      const { id, method, ...rest } = JSON.parse(line) as Message;
      if (method === undefined && id !== undefined) this.waiting.get(id)?.resolve(rest);
      else if (id !== undefined) this.send({ id, error: { code: -32601, message: "this client answers no requests" } });
    } catch (error) {
      this.errors.push(`it wrote an invalid line: ${String(error)}`);
      this.program.kill("SIGKILL");
    }
  }

  /** Lets Node.js end while no call waits. */
  private hold(): void {
    const verb = this.waiting.size > 0 ? "ref" : "unref";
    for (const held of [this.program, this.program.stdin, this.program.stdout, this.program.stderr]) (held as unknown as Socket)[verb]();
  }

  /** Sends a request and returns its response; if the call is aborted, so is the request. */
  async request(method: string, params: object, signal: AbortSignal): Promise<Message> {
    if (this.ended !== undefined) throw new ProgramEnded(this.ended);
    const id = ++this.last;
    const cancel = (): void => this.send({ method: "notifications/cancelled", params: { requestId: id } });
    signal.addEventListener("abort", cancel);
    try {
      return await new Promise<Message>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        this.waiting.set(id, { resolve, reject });
        this.hold();
        this.send({ id, method, params });
      });
    } finally {
      signal.removeEventListener("abort", cancel);
      this.waiting.delete(id);
      this.hold();
    }
  }

  /** Ends the program: by the end of its input, or by force. */
  async close(): Promise<void> {
    this.program.stdin.end();
    const timer = setTimeout(() => this.program.kill("SIGKILL"), CLOSE_MS);
    await this.end;
    clearTimeout(timer);
  }
}

/** Calls tools in a workspace. The first call starts the program. */
export class Client extends Tools {
  private connection: Connection | undefined;
  private opening: Promise<Connection> | undefined;
  private closed = false;

  constructor(private readonly settings: ClientOptions = {}) {
    super();
  }

  private async connected(): Promise<Connection> {
    if (this.closed) throw new LspToolsError("the client is closed; open another one");
    if (this.opening === undefined || this.connection?.ended !== undefined) {
      const { workspace, program = findProgram(), options = [], timeoutMs = 300_000 } = this.settings;
      const words = [...options, ...(workspace === undefined ? [] : ["--workspace", workspace]), "mcp", "--profile", "all"];
      this.connection = undefined;
      const opening = limited(program, timeoutMs, undefined, (signal) => Connection.open(program, words, signal));
      this.opening = opening;
      opening.then((connection) => (this.connection = connection), () => (this.opening = undefined));
    }
    return this.opening;
  }

  async call(name: string, args: object, { signal, timeoutMs = this.settings.timeoutMs ?? 300_000 }: CallOptions = {}): Promise<Answer<any>> {
    return limited(name, timeoutMs, signal, async (limit) => {
      let lost = "";
      for (let times = READING.has(name) ? 2 : 1; times > 0; times--) {
        const connection = await this.connected();
        limit.throwIfAborted();
        const { result, error } = await connection.request("tools/call", { name, arguments: args }, limit);
        if (error) throw new ToolFailed(name, { code: "unknown_tool", error: error.message });
        const answer = result?.structuredContent;
        if (answer && !answer.ok) throw new ToolFailed(name, answer);
        if (answer) return new Answer(name, answer);
        lost = result?.content?.[0]?.text ?? "";
      }
      throw new DaemonLost(`${name}: ${lost}`);
    });
  }

  /** Ends the program. The daemon stays, with its warm servers. */
  async close(): Promise<void> {
    this.closed = true;
    await (await this.opening?.catch(() => undefined))?.close();
  }
}
