// Elements and texts. Whatever comes from files, servers or commands becomes a text node, never markup.

export function element(name, options = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") made.className = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const byId = (id) => document.getElementById(id);

/** Replaces what is in `parent` unless it was made from the same `data` before. */
export function fill(parent, data, make) {
  const key = JSON.stringify(data);
  if (parent.dataset.from === key) return;
  parent.dataset.from = key;
  parent.replaceChildren(...[make()].flat(Infinity).filter(Boolean));
}

/**
 * A table: `columns` are {name, class?}, `rows` arrays of texts or nodes. On a phone its rows become stacks of labelled values (style.css);
 * the roles keep it a table for whoever listens to it.
 */
export function table(caption, columns, rows) {
  const head = columns.map((column) => element("th", { scope: "col", role: "columnheader", class: column.class }, column.name));
  const body = rows.map((cells) => element("tr", { role: "row" },
    cells.map((cell, at) => element("td", { role: "cell", class: columns[at].class, "data-label": columns[at].name }, cell))));
  return element("table", { role: "table" }, element("caption", {}, caption),
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, head)), element("tbody", { role: "rowgroup" }, body));
}

export const none = (text) => element("p", { class: "dim" }, text);

export function badge(text, kind) {
  return element("span", { class: `badge ${kind ?? ""}` }, text);
}

export function bytes(count) {
  if (count === undefined || count === null) return "–";
  for (const [size, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
    if (count >= size) return `${(count / size).toFixed(1)} ${unit}`;
  }
  return `${count} B`;
}

export function milliseconds(count) {
  if (count === undefined || count === null) return "–";
  if (count >= 10_000) return `${(count / 1000).toFixed(0)} s`;
  if (count >= 1_000) return `${(count / 1000).toFixed(1)} s`;
  return count < 10 ? `${Number(count).toFixed(1)} ms` : `${Math.round(count)} ms`;
}

export function duration(seconds) {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** The time of day here, of a text in UTC or seconds since 1970. */
export function clock(time) {
  const date = typeof time === "number" ? new Date(time * 1000) : new Date(time);
  if (Number.isNaN(date.getTime())) return String(time);
  const text = date.toLocaleTimeString([], { hour12: false });
  return new Date().toDateString() === date.toDateString() ? text : `${date.toLocaleDateString()} ${text}`;
}

export const plural = (count, one, many) => `${count} ${count === 1 ? one : many ?? `${one}s`}`;
