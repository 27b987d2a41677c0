import { byId, element, fill } from "./dom.js";

const kind = (line) => (/\bERROR\b/.test(line) ? "line error" : /\bWARN\b/.test(line) ? "line warning" : "line");

export function show(part) {
  const log = byId("log-lines");
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
  fill(log, part.lines, () => (part.lines.length > 0
    ? part.lines.map((line) => element("span", { class: kind(line) }, line))
    : [element("span", { class: "line" }, "Nothing was logged.")]));
  if (atEnd) log.scrollTop = log.scrollHeight;
}
