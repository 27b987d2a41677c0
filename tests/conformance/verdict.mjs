// Reads the conformance suite's output and lists the failed required scenarios: verdict.mjs TRANSPORT SET LOG
import { readFileSync } from "node:fs";

const [transport, set, log] = process.argv.slice(2);
const text = readFileSync(log, "utf8").replace(/\x1b\[[0-9;]*m/g, "");
const names = (pattern) => new Set([...text.matchAll(pattern)].map((match) => match[1]));
// The suite marks these as informational.
const unscored = names(/^\s+[✓✗] (\S+) \((?:extension|added-after-release|pending)\)/gm);
const ofHttp = new Set(transport === "http" ? [] : (process.env.SKIPPED ?? "").split(" "));

const rows = [...text.matchAll(/^([✓✗]) ([^\s:]+): (\d+) passed, (\d+) failed/gm)];
const only = (process.env.ONLY ?? "").split(" ").filter((name) => name !== "");
const counts = (name) => (only.length > 0 ? only.includes(name) : !unscored.has(name) && !ofHttp.has(name));
const required = rows.filter(([, , name]) => counts(name));
const failed = required.filter(([, mark]) => mark !== "✓");
for (const [, , name, passed, failures] of failed) {
  console.log(`  FAILED ${name}: ${passed} checks passed, ${failures} failed`);
}
console.log(`${transport} ${set}: ${required.length - failed.length} of ${required.length} required scenarios passed`);
// A suite that ran no scenario proves nothing.
process.exit(failed.length > 0 || required.length < (only.length > 0 ? 5 : 20) ? 1 : 0);
