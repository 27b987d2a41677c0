// The functions in sources, by TypeScript's compiler: node functions.cjs MODULE FILE… prints JSON.
//
// Each has its file, its name (empty if unnamed), the 1-based line of the name, its keys in
// coverage reports, and the text of its file with one more statement or expression in its body.

const fs = require('node:fs')
const ts = require(process.argv[2])

const found = []
for (const file of process.argv.slice(3)) {
  const text = fs.readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const line = at => source.getLineAndCharacterOfPosition(at).line + 1
  const visit = node => {
    if (ts.isFunctionLike(node) && node.body) {
      const { body } = node
      const start = body.getStart(source)
      const named = nameOf(node)
      found.push({
        file,
        name: named ? named.getText(source) : '',
        line: line((named ?? node).getStart(source)),
        keys: [`ends at ${node.end}`, `lines ${line(start)} to ${line(body.end)}`],
        edited: ts.isBlock(body)
          ? `${text.slice(0, start + 1)} void 0;${text.slice(start + 1)}`
          : `${text.slice(0, start)}(void 0, ${text.slice(start, body.end)})${text.slice(body.end)}`,
      })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
}
process.stdout.write(JSON.stringify(found))

function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) {
    return node.getChildren().find(child => child.kind === ts.SyntaxKind.ConstructorKeyword)
  }
  if (node.name) {
    return node.name
  }
  const { parent } = node
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent) ? parent.name : undefined
}
