/**
 * A hook whose program is a text that V8 compiles through its code cache, where there is one made by the same node:
 * a third of what the gate costs is compiling it. Without a cache, or with one of another node, it runs all the same.
 */
export const cachedProgram = (program: string): string => `const program = ${JSON.stringify(program)}
const fs = process.getBuiltinModule('node:fs')
const vm = process.getBuiltinModule('node:vm')
const file = process.getBuiltinModule('node:url').fileURLToPath(import.meta.url)
const module = { exports: {} }
let cachedData
try { cachedData = fs.readFileSync(file + '.cache') } catch {}
new vm.Script(program, { filename: file, cachedData }).runInThisContext()(module, module.exports, import.meta.url, (url) => import(url))
module.exports.start()
`

/** The program as a function of what it is given, for \`vm.Script\`. */
export const asFunction = (commonJs: string): string =>
  `(function (module, exports, moduleUrl, moduleLoader) {${commonJs}\n})`
