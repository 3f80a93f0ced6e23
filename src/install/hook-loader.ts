import { gatesDir, gitDirFolder, hooksDir, installRecordPath, launchesDir, launchVariable } from '../state/own-paths.ts'
import { sessionDirVariable } from '../system/environment.ts'

/**
 * Reads a bundle once, compares it with the sha256 that is pinned, and runs the bytes that were compared. V8 runs a code
 * cache without comparing it with the source, so the cache is pinned, too (`load.cachePins`); another one is not used.
 * `node -e` loads a module at once (2 ms) where its name stands in the text as a word.
 */
export const loadFunction = `const fs=require('fs'),path=require('path'),vm=require('vm'),sha256=b=>require('cryp'+'to').hash('sha256',b)
function load(file,pin){
let bytes,cachedData
try{bytes=fs.readFileSync(file)}catch(e){throw Error(file+' cannot be read ('+e.code+')')}
if(sha256(bytes)!==pin)throw Error(file+' is not the file that was installed')
const text=(file.endsWith('.br')?require('zl'+'ib').brotliDecompressSync(bytes):bytes).toString(),module={exports:{}},name=path.basename(file)+'.cache',cachePin=load.cachePins[name]
if(cachePin)try{const cache=fs.readFileSync(file+'.cache');if(sha256(cache)===cachePin)cachedData=cache}catch{}
const script=load.scripts[name]=new vm.Script(text.slice(text.indexOf('\\n')),{filename:file,cachedData,importModuleDynamically:vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER})
script.runInThisContext()(module,module.exports,file,load)
return module.exports}
load.cachePins={}
load.scripts={}`

/**
 * `linkedTo`: the git directory that a linked worktree shares with its main checkout. Only one in its `worktrees`, where
 * nothing can be written under an approval.
 */
const folderFunctions = `function realPath(dir){try{return fs.realpathSync.native(dir)}catch{const above=path.dirname(dir);return above===dir?dir:path.join(realPath(above),path.basename(dir))}}
function gitDirAt(dir){try{const at=path.join(dir,'.git'),stat=fs.statSync(at,{throwIfNoEntry:false})
if(!stat||stat.isDirectory())return stat?at:null
const line=stat.isFile()&&stat.size<5e3?fs.readFileSync(at,'utf8').split('\\n',1)[0].trimEnd():''
return line.startsWith('gitdir: ')?path.resolve(dir,line.slice(8)):null}catch{return null}}
function linkedTo(dir,git){try{return path.basename(path.dirname(git))==='worktrees'&&git!==path.join(dir,'.git')&&fs.readFileSync(path.join(git,'gitdir'),'utf8').trim()===path.join(dir,'.git')?path.resolve(git,'../..'):null}catch{return null}}`

/**
 * What `node -e` runs for an entry, with the arguments bundle, its sha256, those of the code caches, and a word for the
 * hook. Plain CommonJS, because node's ES module loader costs 3 ms.
 */
export const hookLoader = (exitCode: number): string => loaderOfEntry(exitCode, '', '')

/**
 * The same in `settings.local.json`, which Claude Code loads in sessions of the folders below and of linked worktrees too:
 * the bundle is named by its absolute path, and the linked worktrees have gates of their own, or none.
 */
export const localLoader = (exitCode: number): string =>
  loaderOfEntry(
    exitCode,
    `
const {env}=process,root=path.resolve(file,'../../../..')
${folderFunctions}
const own=gitDirAt(root),common=own&&linkedTo(root,own)||own
function isBelow(started){for(let dir=started;dir!==root;dir=path.dirname(dir)){const git=gitDirAt(dir)
if(dir===path.dirname(dir)||git&&linkedTo(dir,git)===common)return false}
return true}`,
    `const named=path.resolve(env.CLAUDE_PROJECT_DIR||'.'),real=realPath(named)
env.${sessionDirVariable}=real
env.CLAUDE_PROJECT_DIR=root
if(isBelow(named)||isBelow(real))`,
  )

const loaderOfEntry = (exitCode: number, functions: string, condition: string): string => `${loadFunction}
const [,file,pin,cachePins,word]=process.argv${functions}
try{if(cachePins)load.cachePins=JSON.parse(cachePins)
${condition}load(file,pin).start(word)}catch(e){fs.writeSync(2,'plan-gate: '+e.message+'. Run \`plan-gate doctor\`; if plan-gate was updated, start a new session.\\n');process.exit(${exitCode})}`

/**
 * What `node -e` runs for a hook of the plugin, with the arguments `plugin`, the file of a bundle and a word for the hook.
 * The gate is that of the nearest folder above which the user has registered (`state/gates.ts`); where there is none, this
 * ends silently. The folder counts as it is named and as it really is, because what leads to it can be replaced while the
 * session runs. A worktree of the same repository that lies inside is a checkout of its own. Where plan-gate has started
 * Claude Code, `--settings` carries the hooks, and they answer. Claude Code takes no HOME or CLAUDE_CONFIG_DIR from a
 * project.
 */
export const pluginLoader = (
  exitCode: number,
): string => `const fs=require('fs'),path=require('path'),[,,name,word]=process.argv,{env}=process
try{run()}catch(e){fs.writeSync(2,'plan-gate: '+e.message+'. Run \`plan-gate install\` there to restore the gate, or \`plan-gate uninstall\` to remove it.\\n');process.exit(${exitCode})}
function run(){const named=path.resolve(env.CLAUDE_PROJECT_DIR||'.'),real=realPath(named),there=findGate(real),here=named===real?there:findGate(named)
if(here&&there&&here.root!==there.root)throw Error(named+' is in '+here.root+', and leads to '+there.root+', each with a gate')
const at=there||here
if(!at)return word==='SessionStart'&&warn(real)
isLaunched(at.gate.git)||answer(at)}
function findGate(started){let inside
for(let named=started;;named=path.dirname(named)){
const dir=realPath(named),here=readGate(dir),root=here?dir:named,gate=here||(named===dir?null:readGate(named))
if(gate)return inside&&inside===gate.common?null:{started,root,gate}
const git=gitDirAt(dir)
if(git&&[path.join(dir,'.git'),git,path.join(git,'${gitDirFolder}'),path.join(git,'${installRecordPath}')].every(isOwn))throw Error('there is a gate in '+dir+' that you have not installed, or that has moved since')
if(dir===named)inside??=git&&linkedTo(dir,git)
if(named===path.dirname(named))return null}}
function readGate(dir){const file=path.join(env.CLAUDE_CONFIG_DIR||path.join(env.HOME||require('o'+'s').homedir(),'.claude'),'${gatesDir}',dir.replace(/[%:#]/g,c=>'%'+c.charCodeAt(0).toString(16)),'#gate'),text=read(file)
if(text!==null&&!isOwn(file))throw Error(file+' is not yours')
return text===null?null:JSON.parse(text)}
function warn(folder){if(fs.existsSync(path.join(folder,'.claude/commands/plan-gate')))fs.writeSync(1,JSON.stringify({systemMessage:'plan-gate: this repository has commands of its own named /plan-gate:…, which take the place of the plugin’s. To open the gate, run \`plan-gate install\` in a terminal.'}))}
function isOwn(path){try{return fs.lstatSync(path).uid===(process.getuid?.()??0)}catch{return false}}
${folderFunctions}
function read(file){try{return fs.statSync(file,{throwIfNoEntry:false})?fs.readFileSync(file,'utf8'):null}catch(e){if(e.code==='ENAMETOOLONG')return null
throw Error(file+' cannot be read ('+e.code+')')}}
function isLaunched(git){const {${launchVariable}:nonce,CLAUDE_PID:pid='unknown'}=env
const launch=/^[0-9a-f]{32}$/.test(nonce)?JSON.parse(read(path.join(git,'${launchesDir}',nonce+'.json'))):null
return launch!==null&&(launch.client===null?isAlive(launch.launcher):launch.client===pid)}
function isAlive(pid){try{return process.kill(pid,0)}catch(e){return e.code==='EPERM'}}
function answer({started,root,gate:{bundles}}){${loadFunction}
const bundle='${hooksDir}/'+name
env.${sessionDirVariable}=started
env.CLAUDE_PROJECT_DIR=root
for(const at in bundles)load.cachePins[path.basename(at)]=bundles[at]
load(path.join(root,bundle),bundles[bundle]).start(word)}`
