/** Repairs the errors of a folder: tries fixes for each and keeps one that removes errors and adds none: FOLDER SUBFOLDER. */
import { Client } from "lsp-tools-client";

// Stands for a source of fixes: a script, a person, a model.
const FIXES: Record<string, [string, string][]> = {
  reportAttributeAccessIssue: [["titel", "title"]],
  reportUndefinedVariable: [["return count + 1", "return 1"]],
  reportReturnType: [['"twelve"', '"12"'], ['"twelve"', "12"]],
};

const [workspace = ".", folder = "."] = process.argv.slice(2);
const client = new Client({ workspace });
const errors = (await client.lsp_diagnostics({ path: folder, min_severity: "error" })).value.diagnostics;
for (const { path, code } of errors) {
  for (const [old, text] of FIXES[code ?? ""] ?? []) {
    const edit = await client.edit({ path, edits: [{ old, new: text }], diagnostics: true });
    const report = edit.raw.diagnostics;
    const good = edit.complete && "added" in report && report.removed > 0 && report.added.length === 0;
    console.log(`${path}: ${old} -> ${text}: ${good ? "kept" : "taken back"}`);
    if (good) break;
    if (edit.raw.undo) await client.undo({ id: edit.raw.undo });
  }
}
const left = (await client.lsp_diagnostics({ path: folder, min_severity: "error" })).value;
console.log(`${errors.length} errors before, ${left.count} after`);
await client.close();
