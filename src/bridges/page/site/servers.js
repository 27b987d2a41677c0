import { memoryChart } from "./chart.js";
import { badge, byId, bytes, clock, duration, element, fill, milliseconds, none, plural, table } from "./dom.js";

const KINDS = { ready: "good", indexing: "warn", starting: "warn", crashed: "bad", disabled: "warn", missing: "bad" };

const facts = (pairs) => element("dl", { class: "facts" },
  pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));

function words(server, open) {
  if (server.last_words.length === 0) return null;
  const lines = server.last_words.map((line) => element("span", { class: "line" }, line));
  return element("details", { "data-key": "words", open },
    element("summary", {}, `Last words (${server.last_words.length})`),
    element("pre", { class: "lines", tabindex: 0, role: "region", "aria-label": `Last words of ${server.server}` }, lines));
}

function card(server, open) {
  const latency = server.latency_ms
    ? `median ${milliseconds(server.latency_ms[0])}, 99 % within ${milliseconds(server.latency_ms[1])}` : "no answer yet";
  return [
    element("h3", {}, element("span", {}, server.server, server.root ? ` · ${server.root}` : ""), badge(server.state, KINDS[server.state])),
    memoryChart(server.server, server.memory),
    facts([
      ["Memory", bytes(server.memory_bytes)],
      ["Latency", latency],
      ["Waits for", server.waits_for ?? (server.state === "ready" ? "nothing" : null)],
      ["Documents", `${server.open_documents} open`],
      ["Restarts", server.restarts || null],
      ["Process", server.pid],
      ["Detail", server.detail],
    ]),
    words(server, open),
  ];
}

const cards = new Map();

function keyed(parent, key, data, make) {
  let known = cards.get(key);
  if (!known) {
    known = element("article", { class: key === "daemon" ? "card last" : "card" });
    cards.set(key, known);
    parent.append(known);
  }
  const open = known.querySelector("details")?.open;
  const focused = known.contains(document.activeElement) ? document.activeElement.tagName : null;
  fill(known, data, () => make(open));
  if (focused) known.querySelector(focused.toLowerCase())?.focus();
}

export function show(part) {
  const { daemon } = part;
  const parent = byId("server-cards");
  const about = [daemon.version && `version ${daemon.version}`, `process ${daemon.pid}`, `since ${clock(daemon.started_at)}`];
  byId("workspace").textContent = daemon.workspace ?? "";
  byId("daemon").textContent = `Daemon: ${about.filter(Boolean).join(", ")}`;
  const seen = new Set(["daemon"]);
  for (const server of part.servers) {
    const key = `${server.server} ${server.root}`;
    seen.add(key);
    keyed(parent, key, server, (open) => card(server, open));
  }
  keyed(parent, "daemon", daemon, () => [
    element("h3", {}, element("span", {}, "The daemon itself"), badge("running", "good")),
    memoryChart("the daemon", daemon.memory),
    facts([["Memory", bytes(daemon.memory_bytes)], ["Running for", duration(Date.now() / 1000 - daemon.started_at)]]),
  ]);
  for (const [key, known] of cards) {
    if (!seen.has(key)) {
      known.remove();
      cards.delete(key);
    }
  }
  fill(byId("server-notes"), part.notes, () => part.notes.map((note) => none(note)));
  byId("idle").hidden = part.idle.length === 0;
  fill(byId("idle-table"), part.idle, () => {
    byId("idle-summary").textContent = plural(part.idle.length, "server that does not run", "servers that do not run");
    const columns = [{ name: "Server", class: "lead" }, { name: "State" }, { name: "Languages" }, { name: "Files", class: "number" }, { name: "Install with" }];
    const rows = part.idle.map((row) => [row.server, badge(row.state, KINDS[row.state]), row.languages.join(", "), String(row.files),
      row.install ? element("code", {}, row.install) : "–"]);
    return table("Servers of the languages here that do not run now", columns, rows);
  });
}
