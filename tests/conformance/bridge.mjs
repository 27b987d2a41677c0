// Streamable HTTP in front of an MCP server on standard streams, for a suite that speaks HTTP only: bridge.mjs COMMAND ARGS…
//
// A client with a handshake gets a separate process for its session; all requests without one share
// a process. Request ids are replaced by unique numbers on the way in and restored on the way out,
// since several clients share one pipe.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const META = "io.modelcontextprotocol/";
const argv = process.argv.slice(2);

/** One server on standard streams. */
class Pipe {
  constructor() {
    this.next = 1;
    /** What waits for messages: number → {id, token, take}. */
    this.waiting = new Map();
    /** Messages that belong to no request, and who takes them. */
    this.loose = [];
    this.takeLoose = null;
    this.child = spawn(argv[0], argv.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
    this.child.stdin.on("error", () => {});
    createInterface({ input: this.child.stdout }).on("line", (line) => this.came(JSON.parse(line)));
    this.child.on("exit", () => {
      for (const entry of this.waiting.values()) entry.take(null);
    });
  }

  send(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Sends a request; `take` gets every message that belongs to it, its answer last. */
  request(message, take) {
    const number = this.next++;
    const token = message.params?._meta?.progressToken;
    this.waiting.set(number, { id: message.id, token, take });
    this.send({ ...message, id: number });
    return number;
  }

  cancel(number) {
    if (this.waiting.delete(number)) {
      this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: number } });
    }
  }

  /** The number under which the request with this id waits. */
  numberOf(id) {
    for (const [number, entry] of this.waiting) if (entry.id === id) return number;
    return undefined;
  }

  came(message) {
    if (!("method" in message)) return this.answered(message);
    const params = message.params ?? {};
    const subscription = params._meta?.[`${META}subscriptionId`];
    const listener = this.waiting.get(subscription);
    if (listener) {
      params._meta[`${META}subscriptionId`] = listener.id;
      return listener.take(message);
    }
    const entries = [...this.waiting.values()];
    const owner = entries.find((entry) => "progressToken" in params && entry.token === params.progressToken) ?? entries.at(-1);
    if (owner) return owner.take(message);
    if (this.takeLoose) this.takeLoose(message);
    else this.loose.push(message);
  }

  answered(message) {
    const entry = this.waiting.get(message.id);
    if (!entry) return;
    this.waiting.delete(message.id);
    const meta = message.result?._meta;
    if (meta?.[`${META}subscriptionId`] !== undefined) meta[`${META}subscriptionId`] = entry.id;
    entry.take({ ...message, id: entry.id });
  }
}

const sessions = new Map();
let shared = null;

function reply(response, status, message, headers = {}) {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(message === undefined ? undefined : JSON.stringify(message));
}

function failure(response, status, id, code, message) {
  reply(response, status, { jsonrpc: "2.0", id: id ?? null, error: { code, message } });
}

/** Whether a request comes from this machine, and from no page elsewhere. */
function isLocal(request) {
  const own = [`127.0.0.1:${port}`, `localhost:${port}`];
  const origin = request.headers.origin;
  return own.includes(request.headers.host) && (origin === undefined || own.includes(origin.split("://").at(-1)));
}

function event(response, message) {
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

/** Errors that the revision without a handshake answers with a status of their own. */
const STATUS = new Map([[-32601, 404], [-32602, 400], [-32020, 400], [-32021, 400], [-32022, 400]]);

function ask(pipe, session, message, response) {
  let open = false;
  const number = pipe.request(message, (came) => {
    if (came === null) return open ? response.end() : failure(response, 502, message.id, -32603, "the server ended");
    const status = session === undefined && !open ? STATUS.get(came.error?.code) : undefined;
    if (status !== undefined) return reply(response, status, came);
    if (!open) {
      open = true;
      const headers = { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" };
      response.writeHead(200, session === undefined ? headers : { ...headers, "Mcp-Session-Id": session });
    }
    event(response, came);
    if (!("method" in came)) response.end();
  });
  response.on("close", () => pipe.cancel(number));
}

function post(request, response, message) {
  const version = message.params?._meta?.[`${META}protocolVersion`];
  let session = request.headers["mcp-session-id"];
  let pipe;
  if (message.method === "initialize" && version === undefined) {
    session = randomUUID();
    pipe = new Pipe();
    sessions.set(session, pipe);
  } else if (version !== undefined || session === undefined || (request.headers["mcp-protocol-version"] ?? "") >= "2026") {
    session = undefined;
    if (shared === null || shared.child.exitCode !== null) shared = new Pipe();
    pipe = shared;
    if (version !== undefined && request.headers["mcp-protocol-version"] !== version) {
      return failure(response, 400, message.id, -32020, "MCP-Protocol-Version and _meta differ");
    }
  } else {
    pipe = sessions.get(session);
    if (pipe === undefined) return failure(response, 404, message.id, -32001, "no such session");
  }
  if ("method" in message && "id" in message) return ask(pipe, session, message, response);
  if (message.method === "notifications/cancelled") {
    const number = pipe.numberOf(message.params?.requestId);
    if (number !== undefined) pipe.cancel(number);
  } else {
    pipe.send(message);
  }
  reply(response, 202);
}

const http = createServer((request, response) => {
  if (!isLocal(request)) return failure(response, 403, null, -32600, "this Host or Origin is not served");
  const session = request.headers["mcp-session-id"];
  const pipe = sessions.get(session);
  if (request.method === "GET") {
    if (pipe === undefined) return reply(response, 405);
    response.writeHead(200, { "Content-Type": "text/event-stream", "Mcp-Session-Id": session });
    response.flushHeaders();
    pipe.takeLoose = (message) => event(response, message);
    pipe.loose.splice(0).forEach(pipe.takeLoose);
    return response.on("close", () => { pipe.takeLoose = null; });
  }
  if (request.method === "DELETE") {
    sessions.delete(session);
    pipe?.child.stdin.end();
    return reply(response, pipe === undefined ? 405 : 200);
  }
  if (request.method !== "POST") return reply(response, 405);
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    let message;
    try {
      message = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    } catch {
      return failure(response, 400, null, -32700, "invalid JSON");
    }
    post(request, response, message);
  });
});

let port;
http.listen(0, "127.0.0.1", () => {
  port = http.address().port;
  console.log(`http://127.0.0.1:${port}/mcp`);
});

process.on("SIGTERM", () => {
  for (const pipe of [...sessions.values(), shared]) pipe?.child.kill();
  process.exit(0);
});
