/** Renames a symbol everywhere if a dry run shows no new errors: FOLDER SYMBOL NEW_NAME. */
import { Client } from "lsp-tools-client";

const [workspace = ".", at = "", new_name = ""] = process.argv.slice(2);
const client = new Client({ workspace });
const { diagnostics } = (await client.lsp_rename({ at, new_name, dry_run: true, diagnostics: true })).value;
if ("added" in diagnostics && diagnostics.added.length === 0) {
  const renamed = (await client.lsp_rename({ at, new_name })).raw;
  for (const { path, additions } of renamed.results) console.log(`${path}: ${additions} lines changed`);
  console.log(`to take it back: client.undo({ id: "${renamed.undo}" })`);
} else {
  console.log("not renamed:", diagnostics);
  process.exitCode = 1;
}
await client.close();
