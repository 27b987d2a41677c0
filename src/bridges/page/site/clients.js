import { byId, duration, fill, none, table } from "./dom.js";

export function show(part) {
  fill(byId("clients-table"), part.clients, () => {
    if (part.clients.length === 0) return none("Nobody is connected but this page, which does not count.");
    const columns = [{ name: "Client", class: "lead" }, { name: "Started by" }, { name: "Process", class: "number" }, { name: "For", class: "number" }, { name: "Calls", class: "number" }, { name: "Session", class: "mono" }];
    const rows = part.clients.map((one) => [one.client ? `${one.door}: ${one.client}` : one.door, one.started_by ?? "–", String(one.pid ?? "–"), duration(one.since_s), String(one.calls), one.session]);
    return table("Who is connected to the daemon", columns, rows);
  });
  fill(byId("unsaved-table"), part.unsaved, () => {
    if (part.unsaved.length === 0) return none("None: everybody sees what is on disk.");
    const columns = [{ name: "File", class: "lead" }, { name: "Whose" }, { name: "Lines", class: "number" }, { name: "Against the disk", class: "number" }];
    const rows = part.unsaved.map((one) => [one.path, one.session ? `session ${one.session}` : "a handle of lsp_overlay", String(one.lines), `+${one.additions} −${one.deletions}`]);
    return table("Texts that are not on disk", columns, rows);
  });
}
