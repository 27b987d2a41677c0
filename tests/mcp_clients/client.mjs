// A host built on a TypeScript SDK: performs a host's steps with the server named by its arguments,
// and prints the results as JSON.
//
//     client.mjs v1|v2 stdio COMMAND ARGUMENT…
//     client.mjs v1|v2 http URL TOKEN
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [line, kind, ...rest] = process.argv.slice(2);
// The packages are in another folder than this file.
const { resolve } = createRequire(`${process.env.PEERS}/`);
const load = (name) => import(pathToFileURL(resolve(name)).href);

const questions = [];
const agree = async (request) => {
    questions.push(request.params.message);
    return { action: "accept", content: { decision: "once" } };
};

async function v1() {
    const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
    const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const { ElicitRequestSchema } = await load("@modelcontextprotocol/sdk/types.js");
    const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, agree);
    const call = (params, options) => client.callTool(params, undefined, options);
    return { client, call, StdioClientTransport, StreamableHTTPClientTransport };
}

async function v2() {
    const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
    const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
    const options = { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } };
    const client = new Client({ name: "test", version: "1" }, options);
    client.setRequestHandler("elicitation/create", agree);
    return { client, call: client.callTool.bind(client), StdioClientTransport, StreamableHTTPClientTransport };
}

const { client, call, StdioClientTransport, StreamableHTTPClientTransport } = await (line === "v1" ? v1() : v2());
const transport = kind === "stdio"
    ? new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env, stderr: "ignore" })
    : new StreamableHTTPClientTransport(new URL(rest[0]), { requestInit: { headers: { Authorization: `Bearer ${rest[1]}` } } });
await client.connect(transport);

const said = { protocol: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null };
said.tools = (await client.listTools()).tools.map((tool) => tool.name);
const answer = async (name, args) => (await call({ name, arguments: args })).structuredContent;
said.hover = await answer("lsp_hover", { path: "greet/messages.py", symbol: "compose" });
const edits = [{ old: "shout: bool = False", new: "loud: bool = False" }];
said.edit = await answer("edit", { path: "greet/messages.py", edits, diagnostics: true });
said.ran = await answer("bash", { command: "echo ran" });
const abort = new AbortController();
const command = `touch begun; sh -c 'sleep 60; :' ${process.env.MARKER}`;
const slow = call({ name: "bash", arguments: { command } }, { signal: abort.signal }).then(() => false, () => true);
while (!existsSync("begun")) await new Promise((done) => setTimeout(done, 20));
abort.abort();
said.cancelled = await slow;
said.after = (await answer("read", { path: "greet/people.py" })).ok;
console.log(JSON.stringify({ ...said, questions }));
await client.close();
