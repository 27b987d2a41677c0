import { badge, byId, element, fill, none, plural, table } from "./dom.js";

const NAMES = ["error", "warning", "remark", "hint"];
const MAX_TILES = 60;
let chosen = null;
let latest = [];

const counts = (file) => file.counts.map((count, at) => count > 0 && plural(count, NAMES[at])).filter(Boolean).join(", ");
const kind = (file) => (file.counts[0] > 0 ? "error" : file.counts[1] > 0 ? "warning" : "other");

/** Squarified treemap (Bruls, Huizing, van Wijk 2000): rectangles in percent, for weights in descending order. */
export function squarify(weights, x, y, width, height) {
  const rectangles = [];
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let areas = weights.map((weight) => (weight / total) * width * height);
  while (areas.length > 0) {
    const side = Math.min(width, height);
    const worst = (row) => {
      const sum = row.reduce((all, area) => all + area, 0);
      const squared = side * side;
      return Math.max((squared * row[0]) / (sum * sum), (sum * sum) / (squared * row[row.length - 1]));
    };
    let size = 1;
    while (size < areas.length && worst(areas.slice(0, size + 1)) <= worst(areas.slice(0, size))) size += 1;
    const row = areas.slice(0, size);
    const thick = row.reduce((all, area) => all + area, 0) / side;
    let along = 0;
    for (const area of row) {
      const length = area / thick;
      rectangles.push(width >= height ? [x, y + along, thick, length] : [x + along, y, length, thick]);
      along += length;
    }
    if (width >= height) { x += thick; width -= thick; } else { y += thick; height -= thick; }
    areas = areas.slice(size);
  }
  return rectangles;
}

function detail() {
  const file = latest.find((one) => one.path === chosen);
  fill(byId("file-detail"), [chosen, file ?? null], () => {
    if (!file) return null;
    const rest = file.counts.reduce((sum, count) => sum + count, 0) - file.first.length;
    return [
      element("h3", {}, `${file.path}: ${counts(file)}`),
      file.earlier && none("Found before something on disk changed, and not looked at since."),
      element("ul", { class: "findings" }, file.first.map((one) => element("li", {},
        badge(one.severity, one.severity === "error" ? "bad" : one.severity === "warning" ? "warn" : ""),
        ` line ${one.line}: ${one.message} `, element("span", { class: "dim" }, `(${[one.server, one.code].filter(Boolean).join(" ")})`)))),
      rest > 0 && none(`and ${rest} more`),
    ];
  });
}

function choose(path) {
  chosen = chosen === path ? null : path;
  for (const tile of byId("treemap").children) tile.setAttribute("aria-pressed", String(tile.dataset.path === chosen));
  detail();
}

function tiles(files) {
  const map = byId("treemap");
  const box = map.getBoundingClientRect();
  const [width, height] = [box.width || 800, box.height || 320];
  // The root of the count: one file with hundreds of findings leaves others room to be seen.
  const weighed = files.map((file) => [Math.sqrt(file.counts[0] * 4 + file.counts[1] * 2 + file.counts[2] + file.counts[3]), file]);
  weighed.sort((one, other) => other[0] - one[0]);
  const places = squarify(weighed.map(([weight]) => weight), 0, 0, width, height);
  return weighed.map(([, file], at) => {
    const [x, y, wide, high] = places[at];
    const name = file.path.split("/").pop();
    const label = `${file.path}: ${counts(file)}${file.earlier ? ", found earlier" : ""}`;
    const tile = element("button", {
      type: "button", class: `tile ${kind(file)}${file.earlier ? " earlier" : ""}`, title: label, "aria-label": label,
      "aria-pressed": String(file.path === chosen), "data-path": file.path, tabindex: at === 0 ? 0 : -1,
    }, wide > 56 && high > 26 && element("b", {}, name), wide > 80 && high > 46 && element("span", {}, counts(file)));
    tile.style.left = `${(x / width) * 100}%`;
    tile.style.top = `${(y / height) * 100}%`;
    tile.style.width = `${(wide / width) * 100}%`;
    tile.style.height = `${(high / height) * 100}%`;
    tile.addEventListener("click", () => choose(file.path));
    return tile;
  });
}

function move(event) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const all = [...byId("treemap").children];
  const at = all.indexOf(document.activeElement);
  if (at < 0) return;
  const next = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : at + (steps[event.key] ?? NaN);
  if (Number.isNaN(next) || !all[next]) return;
  event.preventDefault();
  all[at].tabIndex = -1;
  all[next].tabIndex = 0;
  all[next].focus();
}

function draw() {
  const map = byId("treemap");
  const focused = map.contains(document.activeElement) ? document.activeElement.dataset.path : null;
  const shown = latest.slice(0, MAX_TILES);
  fill(map, [shown, Math.round(map.getBoundingClientRect().width)], () => (shown.length > 0 ? tiles(shown) : []));
  if (focused !== null) {
    const again = [...map.children].find((tile) => tile.dataset.path === focused);
    if (again && again !== document.activeElement) {
      for (const tile of map.children) tile.tabIndex = -1;
      again.tabIndex = 0;
      again.focus();
    }
  }
}

export function start() {
  byId("treemap").addEventListener("keydown", move);
  new ResizeObserver(draw).observe(byId("treemap"));
}

export function show(part) {
  latest = part.files;
  const known = plural(part.known, "file");
  byId("files-note").textContent = latest.length === 0
    ? part.known > 0 ? `Servers have told of ${known}, and found nothing.` : "Servers have told nothing of any file yet. lsp-tools check asks them."
    : `${plural(latest.length, "file")} with findings, of ${known} that servers have told of. Area: number and severity; red: errors, brown: warnings, blue: the rest.`
      + (part.left_out > 0 ? ` ${part.left_out} more are left out.` : "");
  byId("treemap").hidden = latest.length === 0;
  byId("files-details").hidden = latest.length === 0;
  draw();
  detail();
  fill(byId("files-table"), latest, () => {
    const columns = [{ name: "File", class: "lead" }, { name: "Errors", class: "number" }, { name: "Warnings", class: "number" }, { name: "Remarks and hints", class: "number" }, { name: "Found by" }];
    const rows = latest.map((file) => [file.path, String(file.counts[0]), String(file.counts[1]), String(file.counts[2] + file.counts[3]), file.servers.join(", ")]);
    return table("Files with findings", columns, rows);
  });
}
