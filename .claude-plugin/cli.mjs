// What the plugin's commands start: the command line of this package. A copy from git is not built, and starts the
// released one of the same version.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const built = new URL('../dist/cli.mjs', import.meta.url)
const [node, self, first, folder, ...rest] = process.argv
if (existsSync(built)) await import(built.href)
else if (first === '--found-by-npx') await startFound(folder, rest)
else startReleased(process.argv.slice(2))

/** In an empty folder: npx takes a package or a registry from a checkout. Nor may its settings name one. */
function startReleased(args) {
  const { version } = JSON.parse(readFileSync(new URL('plugin.json', import.meta.url), 'utf8'))
  const cwd = mkdtempSync(join(tmpdir(), 'plan-gate-npx-'))
  writeFileSync(join(cwd, 'package.json'), '{"private":true}\n')
  const own = startedWith()
  const isOwn = ([name, value]) => !/^(npm_.*|NODE_.*)$/i.test(name) || own.includes(`${name}=${value}`)
  const env = Object.fromEntries(Object.entries(process.env).filter(isOwn))
  const again = ['node', fileURLToPath(import.meta.url), '--found-by-npx', process.cwd(), ...args]
  const npx = ['--yes', `--package=plan-gate@${version}`, '--', ...again]
  const shell = process.platform === 'win32'
  const quoted = shell ? npx.map((word) => `"${word}"`) : npx
  const { status, error } = spawnSync('npx', quoted, { cwd, env, stdio: 'inherit', shell })
  rmSync(cwd, { recursive: true, force: true })
  if (status !== 0)
    console.error(
      `plan-gate: this copy of the plugin is not built, and npx plan-gate@${version} ended with ${error?.code ?? status}.\nInstall the package (npm install --global plan-gate), and add its folder as the marketplace.`,
    )
  process.exitCode = status ?? 1
}

/** Claude Code, where it runs us: without the `env` of a project. */
function startedWith() {
  const { CLAUDE_PID } = process.env
  try {
    return readFileSync(`/proc/${CLAUDE_PID ?? 'self'}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}

/** By npx, which puts the folder of the package's commands in front of PATH. */
async function startFound(checkout, args) {
  const [bin = ''] = (process.env.PATH ?? process.env.Path ?? '')
    .split(delimiter)
    .filter((path) => path.endsWith('.bin'))
  process.chdir(checkout)
  process.argv = [node, self, ...args]
  await import(pathToFileURL(join(bin, '../plan-gate/dist/cli.mjs')).href)
}
