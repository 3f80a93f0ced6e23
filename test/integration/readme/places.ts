import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { approve } from '../../support/approved-repo.ts'
import { planText } from '../../support/plan-texts.ts'
import { project } from '../../support/project.ts'
import { fakePrograms, runCli } from '../../support/run-cli.ts'
import { runHook } from '../../support/run-hook.ts'
import { cleanEnvironment, commit, git, makeRepo, temporaryFolder, write } from '../../support/temporary-repo.ts'

/** Where a command of a document is run. Everything that it makes is below `folder`. */
export type Place = { folder: string; cwd: string; env: { [name: string]: string } }

/** A folder where `plan-gate` and `npx plan-gate` are this plan-gate, as after `npm i plan-gate`. */
export function aFolder(): Place {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  mkdirSync(join(folder, 'home'))
  symlinkSync(project, join(folder, 'node_modules/plan-gate'))
  symlinkSync('../plan-gate/dist/cli.mjs', join(folder, 'node_modules/.bin/plan-gate'))
  const env = cleanEnvironment()
  const PATH = [join(folder, 'node_modules/.bin'), env.PATH].join(delimiter)
  return { folder, cwd: folder, env: { ...env, PATH, HOME: join(folder, 'home'), npm_config_update_notifier: 'false' } }
}

const byChecklist = 'review:\n  routes:\n    - {backend: checklist, when: [always], fail_mode: hard_fail}\n'

/** A repository on a branch, with documents, a change that is not committed, and a review of it from before. */
export async function aRepository(): Promise<Place> {
  const place = aFolder()
  const cwd = makeRepo(join(place.folder, 'shop'), {
    'src/app.ts': 'export {}\n',
    'plan-gate.yaml': byChecklist,
    'docs/strategy.md': '# What is wanted\n\nA greeting.\n',
    'docs/design.md': '# Design\n',
    'docs/requirements.md': '# Requirements\n',
    'docs/security.md': 'You know where secrets leak.\n',
    '.gitignore': '/r1*.json\n.env\nnode_modules/\n',
    '.worktreeinclude': '.env\n',
  })
  git(cwd, 'switch', '--quiet', '--create', 'change')
  write(cwd, { 'src/app.ts': 'console.log("hello")\n', '.env': 'A=1\n' })
  await runCli(['review', '--diff', 'main', '--output', 'r1.json'], { cwd })
  return { ...place, cwd }
}

/** A Claude Code that ends at once, and a Codex that is logged in. */
export async function aRepositoryWithClients(): Promise<Place> {
  const place = await aRepository()
  write(place.cwd, { 'plan-gate.yaml': '' })
  git(place.cwd, 'stash', '--quiet')
  commit(place.cwd, { 'plan-gate.yaml': '' })
  return withClients(place)
}

function withClients(place: Place): Place {
  const flags = ['--json', '--sandbox <MODE>', '--cd <DIR>', '--skip-git-repo-check', '--output-last-message <FILE>']
  const help = [...flags, '--output-schema <FILE>', '--ephemeral', '--model <MODEL>']
    .map((flag) => `      ${flag}`)
    .join('\n')
  const programs = fakePrograms(place.folder, {
    claude: `[ "$1" = --version ] && echo '2.1.326 (Claude Code)'; exit 0`,
    codex: `case "$*" in --version) echo 'codex-cli 0.169.0' ;; *--help) echo '${help}' ;; esac`,
  })
  return { ...place, env: { ...place.env, PATH: [programs, place.env.PATH].join(delimiter) } }
}

/** A checkout with the gate in it and a plan that nobody has looked at. */
export async function aGatedCheckout(): Promise<Place> {
  const place = await aRepository()
  git(place.cwd, 'stash', '--quiet')
  await runCli(['install', '--reviewer', 'checklist'], { cwd: place.cwd })
  write(place.cwd, { 'docs/plan.md': planText() })
  runHook(place.cwd, 'session-start', { hook_event_name: 'SessionStart', source: 'startup' })
  return place
}

export const aGatedCheckoutWithClients = async (): Promise<Place> => withClients(await aGatedCheckout())

/** The same with the plan approved by its reviewer, and a browser that notes what it is to open. */
export async function anApprovedCheckout(): Promise<Place> {
  const place = await aRepository()
  git(place.cwd, 'stash', '--quiet')
  await approve(place.cwd)
  const open = `echo "$1" > ${place.folder}/opened`
  const programs = fakePrograms(place.folder, { 'xdg-open': open, open, wslview: open })
  return { ...place, env: { ...place.env, PATH: [programs, place.env.PATH].join(delimiter) } }
}

/** A worktree of bootstrap's, with work that is merged. */
export async function aMergedWorktree(): Promise<Place> {
  const place = await aRepository()
  git(place.cwd, 'stash', '--quiet')
  git(place.cwd, 'switch', '--quiet', 'main')
  await runCli(['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'login'], { cwd: place.cwd })
  const cwd = join(dirname(place.cwd), 'shop-login')
  commit(cwd, { 'src/login.ts': 'export {}\n' })
  git(place.cwd, 'merge', '--quiet', 'plan/login')
  return { ...place, cwd }
}

/** The project itself, as it is after `npm ci`. */
export const theProject = (): Place => ({ ...aFolder(), cwd: project })
