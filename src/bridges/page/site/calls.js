import { badge, byId, clock, element, fill, milliseconds, none, plural, table } from "./dom.js";

/** About three bytes are a token, as in the budgets of tools. */
const tokens = (count) => Math.ceil(count / 3);

const VERDICTS = { complete: "good", partial: "warn", no_data: "bad", hints: "warn" };

function verdict(call) {
  if (call.running) return badge("running");
  const parts = [badge(call.outcome, call.outcome === "ok" ? "good" : call.outcome === "cancelled" ? "warn" : "bad")];
  if (call.verdict) parts.push(" ", badge(call.verdict.replace("_", " "), VERDICTS[call.verdict]));
  if (call.decision && call.decision !== "allow") parts.push(" ", badge(`rules: ${call.decision}`, "warn"));
  return parts;
}

const subject = (call) => [call.paths, call.commands, call.hosts].flatMap((texts) => texts ?? []).join(", ");

export function show(part) {
  const all = part.calls.length;
  byId("calls-note").textContent = all === 0
    ? "None since the page was opened. Calls appear here as they come."
    : `${plural(all, "call")} since the page was opened, the newest first; ${part.running} running. Tokens are estimated at three bytes each.`;
  fill(byId("calls-table"), part.calls, () => {
    if (all === 0) return null;
    const columns = [{ name: "Tool", class: "lead" }, { name: "Outcome", class: "outcome" }, { name: "Time" }, { name: "Took", class: "number" },
      { name: "Tokens in", class: "number" }, { name: "Tokens out", class: "number" }];
    const rows = part.calls.map((call) => [
      [element("span", {}, call.tool), call.agent ? ` (${call.agent})` : "", element("span", { class: "sub" }, subject(call))],
      verdict(call),
      clock(call.time),
      call.running ? "…" : milliseconds(call.duration_ms),
      String(tokens(call.bytes_in)),
      call.running ? "…" : String(tokens(call.bytes_out)),
    ]);
    return table("Calls of tools", columns, rows);
  });
  fill(byId("calls-statistics"), part.statistics, () => {
    if (part.statistics.length === 0) return none("No calls yet.");
    const columns = [{ name: "Name", class: "lead" }, { name: "Calls", class: "number" }, { name: "Median", class: "number" }, { name: "99 %", class: "number" }];
    const rows = part.statistics.map((one) => [one.name, String(one.calls), milliseconds(one.median_ms), milliseconds(one.p99_ms)]);
    return table("What calls took", columns, rows);
  });
}
