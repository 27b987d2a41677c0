import { badge, byId, clock, element, fill, none, plural } from "./dom.js";

const shown = new Map();
const deltas = new Map();

function diffLines(text) {
  return text.split("\n").map((line) => {
    const kind = line.startsWith("+++") || line.startsWith("---") || line.startsWith("diff ") ? "same"
      : line.startsWith("+") ? "added" : line.startsWith("-") ? "gone" : line.startsWith("@@") ? "hunk" : "same";
    return element("span", { class: kind }, line || " ");
  });
}

function deltaView(delta) {
  if (!delta) return element("p", { class: "dim" }, "What it changed in the diagnostics is not known: it was made before this page was opened, or nobody looked.");
  const text = `${plural(delta.added, "new finding")}, ${delta.removed} gone, ${delta.unchanged} as before; `
    + `${plural(delta.errors, "error")} in the files looked at (${(delta.verdict ?? "unknown").replace("_", " ")})`;
  return [element("p", {}, text),
    delta.first.length > 0 && element("ul", { class: "findings" },
      delta.first.map((one) => element("li", {}, badge(one.severity, one.severity === "error" ? "bad" : "warn"), ` ${one.path}:${one.line} ${one.message}`)))];
}

async function load(id, into) {
  into.replaceChildren(none("Loading …"));
  try {
    const answer = await fetch(`api/edit/${encodeURIComponent(id)}`, { signal: AbortSignal.timeout(15_000) });
    if (!answer.ok) throw new Error(`the daemon answered ${answer.status}`);
    const edit = await answer.json();
    const files = edit.files.map((file) => file.diff
      ? element("pre", { class: "lines", tabindex: 0, role: "region", "aria-label": `Diff of ${file.path}` }, diffLines(file.diff.replace(/\n$/, "")))
      : none(`${file.operation} ${file.path}: ${file.no_diff ?? "no difference in lines"}`));
    into.replaceChildren(...files);
  } catch (error) {
    into.replaceChildren(none(`The diff cannot be had: ${error.message}`));
  }
}

function marks(edit) {
  const delta = deltas.get(edit.id);
  return [
    delta && delta.added > 0 && badge(`+${plural(delta.added, "finding")}`, "bad"),
    delta && delta.removed > 0 && badge(`−${plural(delta.removed, "finding")}`, "good"),
    delta && delta.added === 0 && delta.removed === 0 && badge("no new findings", delta.verdict === "complete" ? "good" : "warn"),
    edit.undone_by && badge(`undone by ${edit.undone_by}`, "warn"),
  ];
}

function entry(edit) {
  const summary = element("summary");
  const delta = element("div");
  const diff = element("div");
  const made = element("details", { class: "edit" }, summary, delta, diff);
  made.addEventListener("toggle", () => { if (made.open && diff.childElementCount === 0) load(edit.id, diff); });
  return { made, summary, delta };
}

let latest = [];

function render() {
  byId("edits-note").textContent = latest.length === 0 ? "No edits yet. What tools change appears here, with what it broke."
    : `The last ${plural(latest.length, "edit")}, the newest first. lsp-tools undo ID takes one back.`;
  const order = latest.map((edit) => {
    const known = shown.get(edit.id) ?? entry(edit);
    shown.set(edit.id, known);
    const delta = deltas.get(edit.id) ?? null;
    fill(known.summary, [edit, delta], () => [`${edit.id} · ${edit.title} · ${clock(edit.time)} · ${edit.files.join(", ")}`, ...marks(edit)]);
    fill(known.delta, delta ?? "none", () => deltaView(delta));
    return known.made;
  });
  const list = byId("edits-list");
  if (order.some((made, at) => list.children[at] !== made) || list.childElementCount !== order.length) list.replaceChildren(...order);
}

export function show(part) {
  latest = part.edits;
  const known = new Set(latest.map((edit) => edit.id));
  for (const id of shown.keys()) if (!known.has(id)) shown.delete(id);
  render();
  if (part.error) byId("edits-note").textContent = part.error;
}

/** Calls bring what edits changed in the diagnostics. */
export function noteCalls(part) {
  let news = false;
  for (const call of part.calls) {
    if (call.undo && call.delta && !deltas.has(call.undo)) {
      deltas.set(call.undo, call.delta);
      news = true;
    }
  }
  if (news) render();
}
