/**
 * Reads a bundle once, compares it with the sha256 that is pinned, and runs the bytes that were compared. V8 runs a code
 * cache without comparing it with the source, so the cache is pinned, too; another one is not used.
 */
export const loadFunction = `const fs=require('fs'),vm=require('vm'),sha256=b=>require('crypto').hash('sha256',b)
function load(file,pin,cachePin){
let bytes,cachedData
try{bytes=fs.readFileSync(file)}catch(e){throw Error(file+' cannot be read ('+e.code+')')}
if(sha256(bytes)!==pin)throw Error(file+' is not the file that was installed')
if(cachePin)try{const cache=fs.readFileSync(file+'.cache');if(sha256(cache)===cachePin)cachedData=cache}catch{}
const text=bytes.toString(),module={exports:{}}
load.script=new vm.Script(text.slice(text.indexOf('\\n')),{filename:file,cachedData,importModuleDynamically:vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER})
load.script.runInThisContext()(module,module.exports,file,load)
return module.exports}`

/**
 * What `node -e` runs for an entry, with the arguments bundle, its sha256, that of its code cache, and a word for the
 * hook. Plain CommonJS, because node's ES module loader costs 3 ms.
 */
export const hookLoader = (exitCode: number): string => `${loadFunction}
const [,file,pin,cachePin,word]=process.argv
try{load(file,pin,cachePin).start(word)}catch(e){fs.writeSync(2,'plan-gate: '+e.message+'. Run \`plan-gate doctor\`; if plan-gate was updated, start a new session.\\n');process.exit(${exitCode})}`
