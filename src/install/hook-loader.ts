import { gatesDir, hooksDir, installRecordPath, launchesDir, launchVariable } from '../state/own-paths.ts'
import { sessionDirVariable } from '../system/environment.ts'

/**
 * Reads a bundle once, compares it with the sha256 that is pinned, and runs the bytes that were compared. V8 runs a code
 * cache without comparing it with the source, so the cache is pinned, too; another one is not used. `node -e` loads the
 * module at once (2 ms) where its name stands in the text as a word.
 */
export const loadFunction = `const fs=require('fs'),vm=require('vm'),sha256=b=>require('cryp'+'to').hash('sha256',b)
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

/**
 * What `node -e` runs for a hook of the plugin, with the arguments `plugin`, its data folder, the name of a bundle and a
 * word for the hook. The gate is that of the nearest folder above which the user has registered (`state/gates.ts`); where
 * there is none, this ends silently. A worktree of the same repository that lies inside is a checkout of its own. Where
 * plan-gate has started Claude Code, `--settings` carries the hooks, and they answer.
 */
export const pluginLoader = (
  exitCode: number,
): string => `const fs=require('fs'),path=require('path'),[,,data,name,word]=process.argv
try{findGate()}catch(e){fs.writeSync(2,'plan-gate: '+e.message+'. Run \`plan-gate install\` there to restore the gate, or \`plan-gate uninstall\` to remove it.\\n');process.exit(${exitCode})}
function findGate(){const started=realPath(process.env.CLAUDE_PROJECT_DIR||'.');let inside
for(let dir=started;;dir=path.dirname(dir)){
const entry=read(path.join(data,'../../..','${gatesDir}',dir.replaceAll(':',''),'#gate'))
if(entry){const gate=JSON.parse(entry);return inside&&inside===gate.common||isLaunched(gate.git)||answer(started,dir,gate.bundles)}
const git=gitDirAt(dir)
if(git&&isOwn(path.join(git,'${installRecordPath}')))throw Error('there is a gate in '+dir+' that you have not installed, or that has moved since')
inside??=git&&linkedTo(dir,git)
if(dir===path.dirname(dir))return word==='SessionStart'&&warn(started)}}
function warn(folder){if(fs.existsSync(path.join(folder,'.claude/commands/plan-gate')))fs.writeSync(1,JSON.stringify({systemMessage:'plan-gate: this repository has commands of its own named /plan-gate:…, which take the place of the plugin’s. To open the gate, run \`plan-gate install\` in a terminal.'}))}
function realPath(dir){try{return fs.realpathSync.native(dir)}catch{return path.resolve(dir)}}
function gitDirAt(dir){try{const at=path.join(dir,'.git'),stat=fs.statSync(at,{throwIfNoEntry:false})
if(!stat||stat.isDirectory())return stat?at:null
const line=stat.isFile()&&stat.size<5e3?fs.readFileSync(at,'utf8').split('\\n',1)[0].trimEnd():''
return line.startsWith('gitdir: ')?path.resolve(dir,line.slice(8)):null}catch{return null}}
function isOwn(file){try{const stat=fs.statSync(file,{throwIfNoEntry:false});return stat&&stat.uid===(process.getuid?.()??0)}catch{return false}}
function linkedTo(dir,git){try{return git!==path.join(dir,'.git')&&fs.readFileSync(path.join(git,'gitdir'),'utf8').trim()===path.join(dir,'.git')?path.resolve(git,'../..'):null}catch{return null}}
function read(file){try{return fs.statSync(file,{throwIfNoEntry:false})?fs.readFileSync(file,'utf8'):null}catch(e){throw Error(file+' cannot be read ('+e.code+')')}}
function isLaunched(git){const {${launchVariable}:nonce,CLAUDE_PID:pid='unknown'}=process.env
const launch=/^[0-9a-f]{32}$/.test(nonce)?read(path.join(git,'${launchesDir}',nonce+'.json')):null
return launch!==null&&[null,pid].includes(JSON.parse(launch).client)}
function answer(started,root,bundles){${loadFunction}
const bundle='${hooksDir}/'+name+'.mjs'
process.env.${sessionDirVariable}=started
process.env.CLAUDE_PROJECT_DIR=root
load(path.join(root,bundle),bundles[bundle],bundles[bundle+'.cache']).start(word)}`
