import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'
import type { InstallRecord } from '../schemas/records.ts'
import { bundleNames, cachedFiles, hooksDir, ownSkillFiles, planPath, reviewPaths } from '../state/own-paths.ts'
import { reflectPath } from '../state/sessions.ts'
import { packageRoot } from '../system/package.ts'
import { sha256 } from '../system/sha256.ts'
import { dedupText } from '../text/clean.ts'
import { bundlePath } from './hook-entries.ts'
import { loadFunction } from './hook-loader.ts'
import type { InstallOptions } from './plan.ts'
import type { Survey } from './survey.ts'

export type OwnFile = { path: string; bytes: Buffer; mode: number }

/** Everything that an install writes except the settings. */
export async function ownFiles(
  options: Pick<InstallOptions, 'node' | 'track'>,
  { record, read, isTracked }: Survey,
): Promise<OwnFile[]> {
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
    ...bundleNames.map((name) => [bundlePath(name), `dist/hooks/${name}.mjs`] as const),
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
  const caches = await Promise.all(
    cachedFiles.map(async (name) => {
      const bundle = bundlePath(name)
      const path = `${bundle}.cache`
      const known = read(path)
      const current = files.find((file) => file.path === bundle)
      const isKept = current !== undefined && digestOf(bundle) === sha256(current.bytes)
      if (known !== null && isKept && digestOf(path) === sha256(known)) return { path, bytes: known, mode: 0o644 }
      const built = join(packageRoot(), 'dist/hooks', `${name}.mjs`)
      const bytes = readUsableCache(built, node) ?? (await makeCodeCache(built, node, typicalSteps(name)))
      return bytes === null ? null : { path, bytes, mode: 0o644 }
    }),
  )
  return caches.filter((cache) => cache !== null)
}

/** Events in a worktree with these files. */
type TypicalStep = { readonly files: { readonly [path: string]: string }; readonly events: readonly string[] }

/**
 * Makes V8's code cache for a hook by running it on typical events in a node process, so that the cache contains the
 * functions that such calls need. Null if that fails: the hook is then compiled at each start.
 */
export function makeCodeCache(bundle: string, node: string, steps: readonly TypicalStep[]): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const child = spawn(node, ['--eval', maker], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_OPTIONS: '' },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const pieces: Buffer[] = []
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000)
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece))
    child.once('error', () => resolve(null))
    child.once('close', (code) => {
      clearTimeout(late)
      const cache = Buffer.concat(pieces)
      resolve(code === 0 && cache.length > 0 ? cache : null)
    })
    child.stdin.on('error', () => {}).end(JSON.stringify({ bundle, steps }))
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
const os = require('os'), path = require('path')
const { bundle, steps } = JSON.parse(fs.readFileSync(0, 'utf8'))
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'plan-gate-cache-'))
process.on('exit', () => fs.rmSync(root, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
process.env.CLAUDE_PROJECT_DIR = root
for (const dir of ['objects', 'refs', 'plan-gate']) fs.mkdirSync(path.join(root, '.git', dir), { recursive: true })
fs.writeFileSync(path.join(root, '.git/HEAD'), 'ref: refs/heads/main\\n')
fs.writeFileSync(path.join(root, '.git/plan-gate/repository.json'), '{"configs":{},"hooks":{}}')
const hook = load(bundle, sha256(fs.readFileSync(bundle)))
const script = load.script
async function run() {
  for (const { files, events } of steps) {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(root, name)
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.writeFileSync(file, text)
    }
    for (const event of events) await hook.answerEvent(event)
  }
  fs.writeSync(1, script.createCachedData())
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
]

const other: Call = ['mcp__server__tool', {}]

export function typicalSteps(hook: string): readonly TypicalStep[] {
  if (hook === 'pre-tool-use')
    return [{ files: {}, events: [write, edit, ...commands.map(bash), other].map(lineOf('PreToolUse')) }]
  const baseline = JSON.stringify({ head: '(initial)', paths: {}, reported: null })
  const files = { '.git/plan-gate/tree.json': baseline }
  return [{ files, events: [bash('ls'), edit, bash('ls')].map(lineOf('PostToolUse')) }, reflectStep()]
}

/** A change under an approved plan that the second reviewer has just passed, so that no reviewer is asked. */
function reflectStep(): TypicalStep {
  const plan = '# Plan\n\n## Changes\n\n- `src/a.ts`\n'
  const [path, content] = ['src/a.ts', 'x\n']
  const hash = sha256(`${sha256(plan)} ${dedupText('Write', path, content, null, null)}`)
  const known = { hash, verdict: 'PASS', at: Date.now(), path, summary: '- src/a.ts:1: it is a line.' }
  const approval = JSON.stringify({ is_optimal: true, plan_hash: sha256(plan), route: 'codex' })
  const call: Call = ['Write', { file_path: path, content }]
  return {
    files: {
      // No reviewer is asked in any case.
      'plan-gate.yaml': 'reflect:\n  enabled: true\n  max_calls: 0\n',
      [planPath]: plan,
      [reviewPaths.approval]: approval,
      '.git/plan-gate/approval.json': approval,
      [reviewPaths.ledger]: `${JSON.stringify({ seq: 1, at: '2026-01-01T00:00:00.000Z', type: 'approved', prev: '0'.repeat(64), plan_hash: sha256(plan), revision: 1 })}\n`,
      [reflectPath('s')]: JSON.stringify({ memory: { entries: [known] }, fails: { fails: [] } }),
    },
    // Twice: the first event also compiles the configuration, which is rare.
    events: [call, call].map(lineOf('PostToolUse')),
  }
}
