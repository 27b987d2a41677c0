// Written by `lsp-tools init opencode --hooks`; `lsp-tools init opencode --hooks --remove` takes it out.
// After an edit it adds the errors that the edit brought, and to a search for a symbol where that is defined.
// LSP_TOOLS_HOOKS=off switches it off.
import { spawn } from "node:child_process";

const PROGRAM = "LSP_TOOLS";
const EVENTS = { edit: "edit", write: "edit", multiedit: "edit", apply_patch: "edit", grep: "search", bash: "search" };

let reported = false;

function ask(event, cwd, input) {
  return new Promise((resolve) => {
    let text = "";
    const done = () => resolve(text);
    const fail = (error) => {
      // Later calls fail in the same way.
      if (event !== "start" && !reported) {
        reported = true;
        text = `lsp-tools: the plugin cannot start \`${PROGRAM}\` (${error.code}); put it on PATH, or remove the plugin`;
      }
      done();
    };
    try {
      const child = spawn(PROGRAM, ["hook", "opencode", event], { cwd, stdio: ["pipe", "pipe", "ignore"] });
      const timer = setTimeout(() => child.kill(), 10_000);
      child.on("error", fail);
      child.on("close", () => (clearTimeout(timer), done()));
      child.stdin.on("error", () => {});
      child.stdout.on("data", (part) => (text += part));
      child.stdin.end(JSON.stringify({ cwd, ...input }));
    } catch (error) {
      fail(error);
    }
  });
}

export const LspTools = async ({ directory }) => {
  // Nobody waits: it has the language servers started before the first edit.
  if (process.env.LSP_TOOLS_HOOKS !== "off") ask("start", directory, {});
  return {
  "tool.execute.after": async (input, output) => {
    const event = EVENTS[input.tool];
    if (!event || process.env.LSP_TOOLS_HOOKS === "off" || typeof output?.output !== "string") return;
    const { tool, args } = input;
    const text = await ask(event, directory, { tool_name: tool, tool_input: args, tool_response: output.metadata });
    if (text) output.output += "\n\n" + text;
  },
  };
};
