/** A client of lsp-tools: asks real language servers about code, and says how far each answer can be trusted. */
export * from "./answer.js";
export { Client, type ClientOptions } from "./client.js";
export * from "./tools.js";
