/** Shows the errors that an edit would cause, also in other files, without making it: FOLDER FILE OLD NEW. */
import { Client } from "lsp-tools-client";

const [workspace = ".", path = "", old = "", text = ""] = process.argv.slice(2);
const client = new Client({ workspace });
const { diagnostics } = (await client.edit({ path, edits: [{ old, new: text }], dry_run: true, diagnostics: true })).value;
// A complete answer compares both texts; the other form of a report gives the reason why it does
// not.
if ("added" in diagnostics) {
  for (const { path, at, severity, message } of diagnostics.added) console.log(`${path}:${at}: ${severity}: ${message}`);
  console.log(`${diagnostics.errors} errors in ${diagnostics.files.length} files after the edit`);
}
await client.close();
