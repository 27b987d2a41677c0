/* Keeps Node.js from loading code of a project that is not trusted: modules of both kinds, addons, and programs that are started by
 * their path. To read its files as text is not kept from anybody. Made by lsp-tools; may be deleted. */
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");
const Module = require("node:module");
const processes = require("node:child_process");
const { fileURLToPath } = require("node:url");

/* FOLDERS */

const isBelow = (file, folder) => file === folder || file.startsWith(folder === "/" ? folder : `${folder}/`);
const isIn = (file) => CLOSED.some((folder) => isBelow(file, folder)) && !OPEN.some((folder) => isBelow(file, folder));

/* The path that a module's name or address means; others ("node:fs") and made-up names mean no file. */
function pathOf(name) {
    if (typeof name !== "string") return undefined;
    if (name.startsWith("/")) return path.resolve(name);
    return name.startsWith("file:") ? fileURLToPath(name) : undefined;
}

/* Whether what is named is a file of the project, by its path or by what that leads to, and none that is only read. */
function isClosed(name) {
    const file = pathOf(name);
    if (file === undefined || file.endsWith(".json")) return false;
    if (isIn(file)) return true;
    try {
        return isIn(fs.realpathSync.native(file));
    } catch {
        return false;
    }
}

function refuse(file) {
    const error = new Error(`no code of this project is run, since it is not trusted: ${file}`);
    error.code = "MODULE_NOT_FOUND";
    throw error;
}

/* `instead` gets what was there, and does as it does where nothing is refused. */
function replace(object, name, instead) {
    const original = object[name];
    if (typeof original !== "function") return;
    object[name] = Object.assign(function (...words) {
        return instead.call(this, original, ...words);
    }, original);
}

for (const name of ["load", "_compile"]) {
    replace(Module.prototype, name, function (original, ...words) {
        const file = words[name === "load" ? 0 : 1];
        if (isClosed(file)) refuse(file);
        return original.apply(this, words);
    });
}
replace(process, "dlopen", function (original, ...words) {
    if (isClosed(words[1])) refuse(words[1]);
    return original.apply(this, words);
});

/* Transpilers run what they have made of a file under the file's name. */
const named = (options) => (typeof options === "string" ? options : options?.filename);
for (const [name, place] of [["runInThisContext", 1], ["runInNewContext", 2], ["runInContext", 2], ["compileFunction", 2]]) {
    replace(vm, name, function (original, ...words) {
        const file = named(words[place]);
        if (isClosed(file)) refuse(file);
        return original.apply(this, words);
    });
}
vm.Script = new Proxy(vm.Script, {
    construct(target, words, newTarget) {
        const file = named(words[1]);
        if (isClosed(file)) refuse(file);
        return Reflect.construct(target, words, newTarget);
    },
});

/* What is started by its path; a name is looked for on PATH, which has no folder of the project. */
function orNone(program, options) {
    if (typeof program !== "string" || !program.includes("/")) return program;
    const folder = options?.cwd instanceof URL ? fileURLToPath(options.cwd) : options?.cwd;
    // One that is not there, so that it fails in the way that is expected.
    return isClosed(path.resolve(folder ?? ".", program)) ? "/proc/self/not-trusted" : program;
}
replace(processes.ChildProcess.prototype, "spawn", function (original, options) {
    return original.call(this, { ...options, file: orNone(options?.file, options) });
});
for (const name of ["spawnSync", "execFileSync"]) {
    replace(processes, name, function (original, program, ...words) {
        const options = words.find((word) => word && typeof word === "object" && !Array.isArray(word));
        return original.call(this, orNone(program, options), ...words);
    });
}

/* Modules of the other kind. */
if (Module.registerHooks) {
    Module.registerHooks({
        load(url, context, next) {
            if (isClosed(url)) refuse(url);
            return next(url, context);
        },
    });
} else if (Module.register) {
    const shared = [isBelow, isIn, pathOf, isClosed, refuse].map((each) => `const ${each.name} = ${each};`).join("\n");
    const hooks = `import fs from "node:fs"; import path from "node:path"; import { fileURLToPath } from "node:url";
const CLOSED = ${JSON.stringify(CLOSED)}, OPEN = ${JSON.stringify(OPEN)};
${shared}
export async function load(url, context, next) {
    if (isClosed(url)) refuse(url);
    return next(url, context);
}`;
    Module.register(`data:text/javascript,${encodeURIComponent(hooks)}`);
} else {
    throw new Error("without trust this server needs Node.js 18.19 or later");
}
