// What the plugin's commands start: the command line of this package. A copy from git is not built, and starts the
// released one of the same version.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const built = new URL('../dist/cli.mjs', import.meta.url)
if (existsSync(built)) await import(built.href)
else {
  const { version } = JSON.parse(readFileSync(new URL('plugin.json', import.meta.url), 'utf8'))
  const npx = ['--yes', `plan-gate@${version}`, ...process.argv.slice(2)]
  const { status, error } = spawnSync('npx', npx, { stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0)
    console.error(
      `plan-gate: this copy of the plugin is not built, and npx plan-gate@${version} ended with ${error?.code ?? status}.\nInstall the package (npm install --global plan-gate), and add its folder as the marketplace.`,
    )
  process.exitCode = status ?? 1
}
