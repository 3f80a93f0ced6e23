/**
 * A hook whose program V8 compiles through its code cache, where there is one made by the same node: a third of what the
 * gate costs is compiling it. Without a cache, or with one of another node, it runs all the same. The program stands in
 * a comment, because a comment is passed over ten times faster than a text is read.
 */
export function cachedProgram(program: string): string {
  if (/[\n\r\u2028\u2029]|[^\u0000-\u007f]/.test(program))
    throw new Error('a program in a comment must be one line of ASCII')
  return `${neededNode(1)}
const fs = process.getBuiltinModule('node:fs')
const vm = process.getBuiltinModule('node:vm')
const file = import.meta.filename
const module = { exports: {} }
try {
  const text = fs.readFileSync(file, 'latin1')
  const program = text.slice(text.lastIndexOf('\\n//') + 3)
  let cachedData
  try { cachedData = fs.readFileSync(file + '.cache') } catch {}
  new vm.Script(program, { filename: file, cachedData }).runInThisContext()(module, module.exports, import.meta.url, (url) => import(url))
} catch (error) {
  console.error('plan-gate: the hook could not be loaded: ' + error.message)
  process.exit(1)
}
module.exports.start()
//${program}`
}

/** In front of every program: an older node would end in a stack that says nothing of its age. */
export const neededNode = (exitCode: number): string =>
  `if (!process.getBuiltinModule) { console.error('plan-gate: Node 20.19 or newer is needed, and this is ' + process.version + ': ' + process.execPath); process.exit(${exitCode}) }`

/** The program as a function of what it is given, for `vm.Script`. */
export const asFunction = (commonJs: string): string =>
  `(function (module, exports, moduleUrl, moduleLoader) {${commonJs}})`
