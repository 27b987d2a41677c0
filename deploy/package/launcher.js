#!/usr/bin/env node
// Runs the program `lsp-tools` from the package for this kind of machine, an optional dependency of
// this package that npm selects. Nothing is downloaded here, and no script runs at installation.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { dirname, join } = require("node:path");
const { optionalDependencies: programs, version } = require("../package.json");

// A shell's exit statuses for a missing and for a non-executable program: the program itself uses
// neither.
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

// Signals that ask a process to end or notify a daemon. A terminal also sends them to the program,
// which treats two as one. On Windows they are not forwarded: a console notifies every program in
// it, and `kill` would end the program at once.
const PASSED_ON = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR2"];

function fail(status, ...lines) {
  for (const line of lines) console.error(`lsp-tools: ${line}`);
  process.exit(status);
}

function isMusl() {
  if (process.platform !== "linux") return false;
  try {
    return !process.report.getReport().header.glibcVersionRuntime;
  } catch {
    return false;
  }
}

const FROM_SOURCE = "build it from its source instead, with Rust: cargo install --path . --locked";

function findProgram() {
  const machine = `${process.platform}-${process.arch}${isMusl() ? "-musl" : ""}`;
  const there = Object.keys(programs).map((key) => key.slice(key.indexOf("/") + 1));
  const name = Object.keys(programs)[there.indexOf(machine)];
  if (name === undefined) {
    fail(NOT_FOUND, `version ${version} has no program for ${machine}, only for ${there.join(", ")}`, FROM_SOURCE);
  }
  let description;
  try {
    description = require.resolve(`${name}/package.json`);
  } catch {
    fail(
      NOT_FOUND,
      `the package ${name}, which holds the program for this machine, is not installed`,
      "either npm left out optional dependencies, or node_modules comes from another kind of machine",
      `remove node_modules and install again with: npm install --include=optional, or add it: npm install ${name}@${version}`,
    );
  }
  const found = require(description).version;
  if (found !== version) {
    fail(NOT_FOUND, `${name} has version ${found} and lsp-tools ${version}; they belong together`, `run: npm install lsp-tools@${version}`);
  }
  return join(dirname(description), "bin", process.platform === "win32" ? "lsp-tools.exe" : "lsp-tools");
}

const program = findProgram();
let child;
// Registered before the program starts: a signal in between would end only this process.
for (const signal of PASSED_ON) process.on(signal, () => process.platform === "win32" || child.kill(signal));
child = spawn(program, process.argv.slice(2), { stdio: "inherit" });

child.on("error", (error) => {
  fail(NOT_RUNNABLE, `${program} cannot be run: ${error.message}`, "install lsp-tools again; its files must be allowed to run there");
});

// The end of this process is that of the program: by the same status, or by the same signal.
child.on("exit", (status, signal) => {
  if (signal === null) process.exit(status);
  for (const name of PASSED_ON) process.removeAllListeners(name);
  process.kill(process.pid, signal);
  // For a signal that does not end Node.js.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 1000);
});
