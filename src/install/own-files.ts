import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'
import type { InstallRecord } from '../schemas/records.ts'
import { bundleFile, bundleNames, bundlePath, cachedWith, hooksDir, ownSkillFiles } from '../state/own-paths.ts'
import { packageRoot } from '../system/package.ts'
import { sha256 } from '../system/sha256.ts'
import { loadFunction } from './hook-loader.ts'
import type { InstallOptions, Survey } from './plan.ts'

export type OwnFile = { path: string; bytes: Buffer; mode: number }

/** Everything that an install writes except the settings. */
export async function ownFiles(options: Pick<InstallOptions, 'node' | 'track'>, { record, read, isTracked }: Survey) {
  const files = packageFiles()
  const isCommitted = options.track || isTracked(`${hooksDir}/`)
  // Committed entries cannot pin a code cache, which each machine makes for itself.
  return [...files, ...(isCommitted ? [ignoreGenerated] : await codeCaches(options.node, files, record, read))]
}

/** In a repository that has the gate committed, generated files stay out of git. */
const ignoreGenerated: OwnFile = {
  path: `${hooksDir}/.gitignore`,
  bytes: Buffer.from('/config.json\n/.*.tmp\n'),
  mode: 0o644,
}

/** The hook bundles (a worktree has no node_modules), and the skills. */
function packageFiles(): OwnFile[] {
  const files = [
    ...bundleNames.map((name) => [bundlePath(name), `dist/hooks/${bundleFile(name)}`] as const),
    ...ownSkillFiles.map((path) => [path, path.replace('.claude/', '')] as const),
  ]
  return files.map(([path, from]) => ({ path, bytes: readFileSync(join(packageRoot(), from)), mode: 0o644 }))
}

/** V8's code caches for the node that runs the hooks. Their bytes differ each time, so one for the same bundle is kept. */
async function codeCaches(
  node: string,
  files: readonly OwnFile[],
  record: InstallRecord | null,
  read: (path: string) => Buffer | null,
): Promise<OwnFile[]> {
  const digestOf = (name: string): string | undefined => record?.files.find((file) => file.path === name)?.sha256
  const kept = (name: string): Buffer | null => {
    const path = bundlePath(name)
    const [known, current] = [read(`${path}.cache`), files.find((file) => file.path === path)]
    const isSameBundle = current !== undefined && digestOf(path) === sha256(current.bytes)
    return known !== null && isSameBundle && digestOf(`${path}.cache`) === sha256(known) ? known : null
  }
  const folder = join(packageRoot(), 'dist/hooks')
  const caches = await Promise.all(
    Object.entries(cachedWith).map(async ([hook, names]): Promise<OwnFile[]> => {
      const known = names.map(
        (name) => [name, kept(name) ?? readUsableCache(join(folder, `${name}.mjs`), node)] as const,
      )
      const found = known.every(([, bytes]) => bytes !== null)
        ? new Map(known)
        : await makeCodeCaches(folder, hook, node)
      return [...found].flatMap(([name, bytes]) =>
        bytes === null ? [] : [{ path: `${bundlePath(name)}.cache`, bytes, mode: 0o644 }],
      )
    }),
  )
  return caches.flat()
}

/** Made by running it on typical events, for the functions that they need. Empty if that fails. */
export function makeCodeCaches(folder: string, hook: string, node: string): Promise<ReadonlyMap<string, Buffer>> {
  return new Promise((resolve) => {
    const child = spawn(node, ['--eval', maker], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_OPTIONS: '' },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let text = ''
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000)
    child.stdout.setEncoding('latin1').on('data', (piece: string) => {
      text += piece
    })
    child.once('error', () => resolve(new Map()))
    child.once('close', (code) => {
      clearTimeout(late)
      const lines = code === 0 ? text.trimEnd().split('\n') : []
      const caches = lines
        .map((line) => line.split(' '))
        .map(([name = '', bytes = '']) => [name, Buffer.from(bytes, 'base64')] as const)
      resolve(new Map(caches.filter(([, bytes]) => bytes.length > 0)))
    })
    child.stdin
      .on('error', () => {})
      .end(JSON.stringify({ folder, hook, names: cachedWith[hook], events: typicalEvents(hook) }))
  })
}

/** The cache that was built with the bundle, if this node made it; V8 checks that. */
function readUsableCache(bundle: string, node: string): Buffer | null {
  if (node !== process.execPath) return null
  try {
    const cachedData = readFileSync(`${bundle}.cache`)
    const text = readFileSync(bundle, 'utf8')
    const script = new Script(text.slice(text.indexOf('\n')), { filename: bundle, cachedData })
    return script.cachedDataRejected === false ? cachedData : null
  } catch {
    return null
  }
}

/** Runs in the other node, in a minimal repository. */
const maker = `
${loadFunction}
const os = require('os')
const { folder, hook: name, names, events } = JSON.parse(fs.readFileSync(0, 'utf8'))
const bundle = path.join(folder, name + '.mjs')
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'plan-gate-cache-'))
process.on('exit', () => fs.rmSync(root, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
process.env.CLAUDE_PROJECT_DIR = root
for (const dir of ['objects', 'refs', 'plan-gate']) fs.mkdirSync(path.join(root, '.git', dir), { recursive: true })
fs.writeFileSync(path.join(root, '.git/HEAD'), 'ref: refs/heads/main\\n')
fs.writeFileSync(path.join(root, '.git/plan-gate/repository.json'), '{"configs":{},"hooks":{}}')
fs.writeFileSync(path.join(root, '.git/plan-gate/tree.json'), '{"head":"(initial)","paths":{},"reported":null}')
const hook = load(bundle, sha256(fs.readFileSync(bundle)))
async function run() {
  for (const event of events) await hook.answerEvent(event)
  for (const name of names) fs.writeSync(1, name + ' ' + load.scripts[name + '.mjs.cache'].createCachedData().toString('base64') + '\\n')
}
run().catch(() => process.exit(1))
`

type Call = readonly [tool_name: string, tool_input: object]

const write: Call = ['Write', { file_path: '/nowhere/src/a.ts', content: 'x' }]
const edit: Call = ['Edit', { file_path: '/nowhere/docs/plan.md', old_string: 'a', new_string: 'b' }]
const bash = (command: string): Call => ['Bash', { command }]

const lineOf =
  (hook_event_name: string) =>
  ([tool_name, tool_input]: Call): string =>
    JSON.stringify({ hook_event_name, permission_mode: 'default', session_id: 's', tool_name, tool_input })

const commands = [
  'git log --oneline -5',
  'git status',
  'ls -la src',
  'rg -n "a b" src',
  'cat a.txt',
  'rm -rf src',
  'npm test',
  'git log --oneline -5 | head -3 && ls src',
]

const other: Call = ['mcp__server__tool', {}]

export const typicalEvents = (hook: string): readonly string[] =>
  hook === 'pre-tool-use'
    ? [write, edit, ...commands.map(bash), other].map(lineOf('PreToolUse'))
    : [bash('ls'), edit, bash('ls')].map(lineOf('PostToolUse'))
