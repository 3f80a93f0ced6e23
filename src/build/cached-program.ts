/**
 * A hook whose program V8 compiles through its code cache, where there is one made by the same node: a third of what the
 * gate costs is compiling it. Without a cache, or with one of another node, it runs all the same. The program stands in
 * a comment, because a comment is passed over ten times faster than a text is read.
 */
export function cachedProgram(program: string): string {
  if (/[\n\r\u2028\u2029]|[^\u0000-\u007f]/.test(program))
    throw new Error('a program in a comment must be one line of ASCII')
  return `const fs = process.getBuiltinModule('node:fs')
const vm = process.getBuiltinModule('node:vm')
const file = import.meta.filename
const text = fs.readFileSync(file, 'latin1')
const program = text.slice(text.lastIndexOf('\\n//') + 3)
const module = { exports: {} }
let cachedData
try { cachedData = fs.readFileSync(file + '.cache') } catch {}
new vm.Script(program, { filename: file, cachedData }).runInThisContext()(module, module.exports, import.meta.url, (url) => import(url))
module.exports.start()
//${program}`
}

/** The program as a function of what it is given, for `vm.Script`. */
export const asFunction = (commonJs: string): string =>
  `(function (module, exports, moduleUrl, moduleLoader) {${commonJs}})`
