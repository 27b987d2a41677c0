/** Asks several worktrees at once about a symbol, takes the first answer and cancels the other calls: SYMBOL FOLDER… */
import { Client } from "lsp-tools-client";

const [at = "", ...folders] = process.argv.slice(2);
const clients = folders.map((workspace) => new Client({ workspace }));
const others = new AbortController();
const calls = clients.map((client) => client.lsp_hover({ at }, { signal: others.signal, timeoutMs: 120_000 }));
const [first, place] = await Promise.race(calls.map(async (call, place) => [await call, place] as const));
// Cancels the requests too; the clients remain usable.
others.abort();
const cancelled = (await Promise.allSettled(calls)).filter(({ status }) => status === "rejected");
console.log(`${folders[place]}: ${first.value.contents.split("\n")[1]}`);
const again = await Promise.all(clients.map((client) => client.lsp_hover({ at })));
console.log(`${cancelled.length} cancelled, ${again.filter(({ complete }) => complete).length} of ${again.length} answered again`);
await Promise.all(clients.map((client) => client.close()));
