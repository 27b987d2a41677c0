/** Lists the uses of a symbol, each with its line and the function around it: FOLDER SYMBOL. */
import { Client } from "lsp-tools-client";

const [workspace = ".", at = ""] = process.argv.slice(2);
const client = new Client({ workspace });
const answer = await client.lsp_references({ at });
if (!answer.complete) console.log(["there may be more: " + answer.verdict, ...answer.reasons].join("\n  "));
for (const places of answer.raw.locations) {
  for (const [path, rows] of Object.entries(places)) {
    for (const [place, line, around] of rows) console.log(`${path}:${place} ${around ?? "(module)"}: ${line}`);
  }
}
await client.close();
