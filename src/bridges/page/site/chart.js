// Memory over time as a small curve. What it shows is in its label as well.

import { bytes, duration, element } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [300, 56];

function shape(name, options) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(options)) made.setAttribute(key, value);
  return made;
}

/** `samples` are [seconds, bytes], the oldest first. */
export function memoryChart(what, samples) {
  if (!samples || samples.length === 0) return null;
  const [first, last] = [samples[0], samples[samples.length - 1]];
  const sizes = samples.map(([, size]) => size);
  const most = Math.max(...sizes);
  const least = Math.min(...sizes);
  const span = Math.max(1, last[0] - first[0]);
  const top = most * 1.15 || 1;
  const at = ([time, size]) =>
    `${(((time - first[0]) / span) * WIDTH).toFixed(1)},${(HEIGHT - (size / top) * (HEIGHT - 4)).toFixed(1)}`;
  const points = samples.length > 1 ? samples.map(at) : [`0,${at(first).split(",")[1]}`, `${WIDTH},${at(first).split(",")[1]}`];
  const label = `Memory of ${what} over ${duration(span)}: ${bytes(last[1])} now, from ${bytes(least)} to ${bytes(most)}`;
  const chart = shape("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
  chart.append(
    shape("polygon", { class: "area", points: `0,${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}` }),
    shape("polyline", { class: "curve", points: points.join(" ") }),
  );
  const scale = element("div", { class: "chart-scale", "aria-hidden": "true" },
    element("span", {}, `${duration(span)} ago`), element("span", {}, `most ${bytes(most)}`), element("span", {}, "now"));
  return [chart, scale];
}
