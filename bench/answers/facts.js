// Facts about a package from TypeScript's own language service: for `just answers`.
//
// facts.js TYPESCRIPT symbols FOLDER      its functions, methods, classes and interfaces
// facts.js TYPESCRIPT uses FOLDER NEED    uses of the symbols on standard input, until NEED of them are used elsewhere
// facts.js TYPESCRIPT edits FOLDER        edits of them that may break something

"use strict";
const fs = require("fs");
const path = require("path");
const [, , typescript, question, folder, need] = process.argv;
const ts = require(typescript);
const root = fs.realpathSync(folder);

const settings = ts.getParsedCommandLineOfConfigFile(path.join(root, "tsconfig.json"), {}, {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic: (problem) => {
    throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, "\n"));
  },
});
const service = ts.createLanguageService({
  getScriptFileNames: () => settings.fileNames,
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) => (fs.existsSync(name) ? ts.ScriptSnapshot.fromString(fs.readFileSync(name, "utf8")) : undefined),
  getCurrentDirectory: () => root,
  getCompilationSettings: () => settings.options,
  getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});
const program = service.getProgram();
const below = (file) => path.relative(root, file);
const files = program.getSourceFiles().filter((file) => settings.fileNames.includes(file.fileName));

// Named symbols that are declared once, unlike overloads and merged interfaces.
function* declared(file) {
  const all = [];
  const visit = (node, container) => {
    const kind =
      ts.isFunctionDeclaration(node) ? "function"
      : ts.isClassDeclaration(node) ? "class"
      : ts.isInterfaceDeclaration(node) ? "interface"
      : ts.isMethodDeclaration(node) && container ? "method"
      : undefined;
    if (kind && node.name && ts.isIdentifier(node.name)) {
      all.push({ node, kind, container, name: node.name.text });
    }
    if (ts.isClassDeclaration(node) && node.name) {
      node.members.forEach((member) => visit(member, node.name.text));
    }
  };
  file.statements.forEach((node) => visit(node, undefined));
  for (const one of all) {
    const symbol = program.getTypeChecker().getSymbolAtLocation(one.node.name);
    if (symbol && symbol.declarations.length === 1) yield one;
  }
}

function text(parts) {
  return ts.displayPartsToString(parts ?? []);
}

function* symbols() {
  for (const file of files) {
    for (const { node, kind, container, name } of declared(file)) {
      const at = node.name.getStart();
      const { line, character } = file.getLineAndCharacterOfPosition(at);
      const quick = service.getQuickInfoAtPosition(file.fileName, at);
      const parameters = (node.parameters ?? []).map((one) => one.name.getText()).filter((one) => /^\w+$/.test(one) && one !== "this");
      yield {
        name, container: container ?? null, kind, path: below(file.fileName), line, character,
        end: file.getLineAndCharacterOfPosition(node.getEnd()).line,
        parameters, doc: text(quick?.documentation).trim().split("\n")[0].trim(),
      };
    }
  }
}

function* uses(given) {
  let found = 0;
  for (const symbol of given) {
    const name = path.join(root, symbol.path);
    const file = program.getSourceFile(name);
    const at = file.getPositionOfLineAndCharacter(symbol.line, symbol.character);
    const places = new Map();
    for (const { references } of service.findReferences(name, at) ?? []) {
      for (const { fileName, textSpan } of references) {
        const place = program.getSourceFile(fileName).getLineAndCharacterOfPosition(textSpan.start);
        if (settings.fileNames.includes(fileName) && !(fileName === name && textSpan.start === at)) {
          places.set(`${fileName}:${textSpan.start}`, { path: below(fileName), ...place });
        }
      }
    }
    symbol.uses = [...places.values()];
    // A call of an override is also a use of the overridden method, but its definition is the
    // override.
    symbol.overrides = symbol.uses.filter((use) => {
      const user = path.join(root, use.path);
      const start = program.getSourceFile(user).getPositionOfLineAndCharacter(use.line, use.character);
      const defined = service.getDefinitionAtPosition(user, start) ?? [];
      return !defined.some((one) => one.fileName === name && one.textSpan.start === at);
    });
    symbol.disputed = [];
    yield symbol;
    found += symbol.uses.some((use) => use.path !== symbol.path && !symbol.overrides.includes(use));
    if (found === Number(need)) return;
  }
}

function* edits() {
  for (const file of files) {
    const bytes = (at) => Buffer.byteLength(file.text.slice(0, at));
    for (const { node, kind, name } of declared(file)) {
      const site = (what, start, end, put) => ({ what, name, path: below(file.fileName), start: bytes(start), end: bytes(end), put });
      const named = node.name;
      yield site(`${kind} renamed`, named.getStart(), named.getEnd(), kind === "class" || kind === "interface" ? `Zz${name}` : `zz_${name}`);
      if (kind === "function" || kind === "method") {
        const [first] = node.parameters;
        const open = first ? first.getStart() : node.parameters.pos;
        yield site("parameter added", open, open, first ? "zz_required: string, " : "zz_required: string");
        if (first && !first.questionToken && !first.initializer && !first.dotDotDotToken) {
          const next = node.parameters[1];
          yield site("parameter removed", first.getStart(), next ? next.getStart() : node.parameters.end, "");
        }
        if (node.type) {
          yield site("return type changed", node.type.getStart(), node.type.getEnd(), node.type.getText() === "number" ? "string" : "number");
        }
      }
      if (kind === "method") yield site("method deleted", node.getStart(), node.getEnd(), "");
      if (kind === "class" && node.heritageClauses) {
        yield site("bases removed", node.heritageClauses.pos, node.heritageClauses.end, "");
      }
    }
  }
}

const answer = question === "symbols" ? symbols() : question === "edits" ? edits() : uses(JSON.parse(fs.readFileSync(0, "utf8")));
process.stdout.write(JSON.stringify([...answer]));
