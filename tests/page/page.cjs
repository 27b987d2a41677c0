// Opens the page in a headless Chromium while the daemon works, and checks it. Called by run.sh, in
// the workspace.
"use strict";

const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const axe = require("axe-core");
const puppeteer = require("puppeteer-core");

const [program, chromium, docs] = process.argv.slice(2);
const children = [];
const problems = [];

function check(holds, what) {
  console.log(`${holds ? "ok" : "FAILED"}: ${what}`);
  if (!holds) problems.push(what);
}

/** The output of a command, whose exit status may report findings. */
function run(...words) {
  try {
    return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    if ([1, 2, 3, 4].includes(error.status)) return error.stdout;
    throw error;
  }
}

/** A running client: writes messages framed as LSP or as lines. */
function client(words, framed) {
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdout.resume();
  children.push(child);
  return (message) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(framed ? `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}` : `${text}\n`);
  };
}

function sample() {
  const lines = (count, line) => Array.from({ length: count }, (_, at) => line(at)).join("\n") + "\n";
  fs.mkdirSync("shop/api", { recursive: true });
  fs.writeFileSync("shop/__init__.py", "");
  fs.writeFileSync("shop/cart.py", "class Cart:\n    def __init__(self) -> None:\n        self.items: list[int] = []\n\n    def add(self, price: int) -> int:\n        self.items.append(price)\n        return sum(self.items)\n");
  fs.writeFileSync("shop/checkout.py", "from shop.cart import Cart\n\n\ndef pay(cart: Cart) -> int:\n    return cart.add(3) + cart.add(4)\n");
  fs.writeFileSync("shop/orders.py", "import os\nimport sys\n" + lines(9, (at) => `total_${at}: int = "${at}"`));
  fs.writeFileSync("shop/api/routes.py", "import json\n" + lines(4, (at) => `route_${at}: str = ${at}`));
  fs.writeFileSync("shop/api/models.py", "import re\nimport math\n");
  fs.writeFileSync("shop/stock.py", lines(3, (at) => `print(missing_${at})`));
}

async function work(page) {
  const editor = client(["lsp"], true);
  const folder = process.cwd();
  editor({ id: 1, method: "initialize", params: { processId: process.pid, rootUri: `file://${folder}`, capabilities: {} } });
  editor({ method: "initialized", params: {} });
  const file = path.join(folder, "shop/checkout.py");
  editor({ method: "textDocument/didOpen", params: { textDocument: { uri: `file://${file}`, languageId: "python", version: 1, text: `${fs.readFileSync(file, "utf8")}\n\ndef refund(cart: Cart) -> int:\n    return -pay(cart)\n` } } });
  const agent = client(["mcp"], false);
  agent({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "an-agent", version: "1" } } });
  agent({ method: "notifications/initialized" });
  run("check");
  run("references", "shop/cart.py:Cart.add");
  run("hover", "shop/cart.py:5:add");
  agent({ id: 2, method: "tools/call", params: { name: "grep", arguments: { pattern: "Cart" } } });
  agent({ id: 3, method: "tools/call", params: { name: "bash", arguments: { command: "cargo --version || true" } } });
  run("edit", "shop/cart.py", "--old", "price: int) -> int", "--new", "price: str) -> int", "--diagnostics");
  run("edit", "shop/stock.py", "--old", "print(missing_0)", "--new", "print(0)", "--diagnostics");
  run("tools", "call", "read", JSON.stringify({ path: "shop/nowhere.py" }));
  await page.waitForFunction(() => document.querySelectorAll("#calls-table tbody tr").length >= 7, { timeout: 60_000 });
  run("check");
}

async function findings(page, what) {
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => window.axe.run(document, { runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] } }));
  for (const one of found.violations) console.log(`  ${one.id}: ${one.help}\n    ${one.nodes.map((node) => `${node.html}\n    ${node.failureSummary}`).join("\n    ")}`);
  check(found.violations.length === 0, `no axe violations, ${what} (${found.passes.length} rules passed)`);
}

async function keyboard(page) {
  await page.evaluate(() => { document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex"); window.scrollTo(0, 0); });
  const seen = [];
  for (let step = 0; step < 80; step += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const one = document.activeElement;
      if (one === document.body) return null;
      const style = getComputedStyle(one);
      const box = one.getBoundingClientRect();
      return { what: one.id || one.className || one.getAttribute("href") || one.tagName, ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2, shown: box.width > 0 && box.height > 0 };
    });
    if (at === null) break;
    seen.push(at);
  }
  const reached = seen.map((one) => one.what).join(" ");
  check(seen[0]?.what === "skip", "the first stop of Tab skips to the content");
  for (const stop of ["pause", "#servers", "#log", "tile", "log-lines"]) check(reached.includes(stop), `Tab reaches ${stop}`);
  check(seen.every((one) => one.ring && one.shown), `every stop of Tab shows where it is (${seen.length} stops)`);
  await page.focus(".tile[tabindex='0']");
  const before = await page.evaluate(() => document.activeElement.dataset.path);
  await page.keyboard.press("ArrowRight");
  const after = await page.evaluate(() => document.activeElement.dataset.path);
  await page.keyboard.press("Enter");
  const detail = await page.$eval("#file-detail", (one) => one.textContent);
  check(before !== after && detail.startsWith(after), `arrows and Enter show the findings of ${after}`);
}

async function main() {
  sample();
  const { url, port } = JSON.parse(run("view", "--format", "json"));
  const origin = new URL(url).origin;
  const bare = await fetch(`${origin}/`);
  check(bare.status === 401 && (await bare.text()) === "", "without the token: 401 and nothing else");
  const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
  const page = await browser.newPage();
  const elsewhere = [];
  const complaints = [];
  page.on("request", (request) => { if (new URL(request.url()).origin !== origin) elsewhere.push(request.url()); });
  page.on("console", (message) => { if (["error", "warn"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.setBypassCSP(false);
  await page.setViewport({ width: 1200, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await page.goto(url, { waitUntil: "domcontentloaded" });
  await page.waitForFunction(() => document.getElementById("connection").textContent === "live", { timeout: 20_000 });
  await work(page);
  check(true, "calls appear without a reload");
  await page.waitForFunction(() => document.querySelectorAll(".tile").length >= 3, { timeout: 30_000 });
  await page.waitForFunction(() => document.querySelectorAll(".edit").length >= 2, { timeout: 30_000 });
  await page.waitForFunction(() => document.querySelector("#unsaved-table table"), { timeout: 30_000 });
  await page.click(".edit:last-child summary");
  await page.waitForFunction(() => document.querySelector(".edit .added"), { timeout: 30_000 });
  check((await page.$eval(".edit:last-child .added", (one) => one.textContent)).includes("price: str"), "an edit shows its diff");
  check(/new finding/.test(await page.$eval(".edit:last-child", (one) => one.textContent)), "an edit shows what it broke");
  check(await page.$eval("#server-cards", (one) => one.querySelectorAll("svg[role=img]").length >= 2), "memory is drawn over time");
  await page.evaluate(() => new Promise((done) => { setTimeout(done, 6_000); }));
  await page.click("#pause");
  await findings(page, "light");
  await keyboard(page);
  await page.evaluate(() => document.activeElement.blur());
  await page.screenshot({ path: path.join(docs, "view-light.png"), fullPage: true });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  await findings(page, "dark");
  await page.screenshot({ path: path.join(docs, "view-dark.png"), fullPage: true });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }, { name: "prefers-reduced-motion", value: "reduce" }]);
  await page.setViewport({ width: 360, height: 740 });
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  await findings(page, "at 360 px");
  const wide = await page.evaluate(() => ({ page: document.documentElement.scrollWidth, window: innerWidth }));
  check(wide.page <= wide.window, `no sideways scroll at 360 px (${wide.page} of ${wide.window})`);
  await page.screenshot({ path: path.join(docs, "view-phone.png"), fullPage: true });
  check(elsewhere.length === 0, `nothing is loaded from elsewhere ${elsewhere.join(" ")}`);
  check(complaints.length === 0, `the console is silent ${complaints.join(" | ")}`);
  run("view", "--stop");
  const gone = await fetch(`http://127.0.0.1:${port}/`).then(() => false, () => true);
  check(gone, "after --stop no process listens");
  await browser.close();
}

main().catch((error) => { console.error(error); problems.push(error.message); }).finally(() => {
  for (const child of children) child.kill();
  console.log(problems.length === 0 ? "page: all passed" : `page: ${problems.length} failed`);
  process.exit(problems.length === 0 ? 0 : 1);
});
