// The files that sources import, by TypeScript's compiler and the rules of Node.js: node
// imports.cjs MODULE FILE… prints JSON.
//
// A path without an extension, or with the extension of compiled code, may stand for a TypeScript
// file.

const fs = require('node:fs')
const path = require('node:path')
const ts = require(process.argv[2])

const found = {}
for (const file of process.argv.slice(3)) {
  const { importedFiles } = ts.preProcessFile(fs.readFileSync(file, 'utf8'), true, true)
  const resolved = importedFiles.map(({ fileName }) => resolve(path.resolve(file), fileName))
  found[file] = [...new Set(resolved)].filter(Boolean).map(to => path.relative(process.cwd(), to))
}
process.stdout.write(JSON.stringify(found))

function resolve(from, name) {
  const candidates = [name]
  if (name.startsWith('.')) {
    const whole = path.resolve(path.dirname(from), name)
    candidates.push(`${whole}.ts`, whole.replace(/\.([cm]?)js$/, '.$1ts'), path.join(whole, 'index.ts'))
  }
  for (const candidate of candidates) {
    try {
      const to = require.resolve(candidate, { paths: [path.dirname(from)] })
      return path.isAbsolute(to) && !to.includes(`${path.sep}node_modules${path.sep}`) ? to : undefined
    } catch {
      // Try the next candidate.
    }
  }
}
