// What the daemon sends becomes the page. Every address is relative, so that the token in it goes nowhere else.

import * as calls from "./calls.js";
import * as clients from "./clients.js";
import { byId } from "./dom.js";
import * as edits from "./edits.js";
import * as files from "./files.js";
import * as log from "./log.js";
import * as servers from "./servers.js";

const SHOW = {
  servers: servers.show,
  calls: (part) => { calls.show(part); edits.noteCalls(part); },
  edits: edits.show,
  files: files.show,
  clients: clients.show,
  log: log.show,
};

let paused = false;
const waiting = new Map();

function tell(text, kind) {
  const state = byId("connection");
  if (state.textContent !== text) state.textContent = text;
  state.className = `badge ${kind}`;
}

function take(name, data) {
  if (paused) waiting.set(name, data);
  else SHOW[name](JSON.parse(data));
}

function connect() {
  const live = new EventSource("api/live");
  live.addEventListener("open", () => tell(paused ? "paused" : "live", paused ? "warn" : "good"));
  live.addEventListener("error", () => {
    const ended = live.readyState === EventSource.CLOSED;
    tell(ended ? "ended: run lsp-tools view again" : "no connection, trying again", "bad");
  });
  for (const name of Object.keys(SHOW)) live.addEventListener(name, (event) => take(name, event.data));
}

byId("pause").addEventListener("click", () => {
  paused = !paused;
  byId("pause").setAttribute("aria-pressed", String(paused));
  tell(paused ? "paused" : "live", paused ? "warn" : "good");
  if (!paused) {
    for (const [name, data] of waiting) SHOW[name](JSON.parse(data));
    waiting.clear();
  }
});

files.start();
connect();
