import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { packageVersion } from '../../../src/system/package.ts'
import { askGate } from '../../support/run-hook.ts'
import {
  aFolder,
  aGatedCheckout,
  aGatedCheckoutWithClients,
  aMergedWorktree,
  anApprovedCheckout,
  aRepository,
  aRepositoryWithClients,
  type Place,
  theProject,
} from './places.ts'

type Ran = { stdout: string; stderr: string }

/** How a command of a document is run by the tests. A command that has no row here fails them. */
export type Row = {
  /** As it stands in the document, without the comment behind it. */
  command: string
  place: () => Place | Promise<Place>
  /** 0 where it is left out. */
  exitCode?: number
  /** What is run in its stead, where a test cannot run it as it stands. */
  instead?: { command: string; because: string }
  /** The output that a document shows below it: to the byte, or with other numbers, versions and folders. */
  shown?: 'exactly' | 'alike'
  /** What must be true afterwards. */
  afterwards?: (place: Place, ran: Ran) => void
}

const written =
  (...paths: string[]) =>
  ({ cwd }: Place): void => {
    for (const path of paths) expect([path, existsSync(join(cwd, path))]).toEqual([path, true])
  }

const isOpen = ({ cwd }: Place): boolean =>
  askGate(cwd, 'Write', { file_path: join(cwd, 'src/app.ts'), content: '' }) === null

const says =
  (pattern: RegExp) =>
  (_: Place, { stdout, stderr }: Ran): void => {
    expect(stdout + stderr).toMatch(pattern)
  }

const withAnyKey = 'rm plan-gate.yaml; OPENAI_API_KEY=none plan-gate calibrate'
const noReviewer = 'the place has only the checklist, which is no model; nobody is asked'

const version = packageVersion()

const byRealClients = 'test/clients/plugin runs it with the real Claude Code'

const installed = 'the tests are run where `npm ci` has been run, and CI begins with it'

export const rows: readonly Row[] = [
  {
    command: 'npm ci && npm run demo',
    place: theProject,
    instead: { command: 'npm run demo', because: installed },
    afterwards: says(/✗ denied[\s\S]* bootstrap --name trial/),
  },
  {
    command: 'npm ci && npm test',
    place: theProject,
    instead: { command: 'npm pkg get scripts.test', because: `${installed}, and it is what runs this` },
    afterwards: says(/tsx test\/run\.ts/),
  },
  {
    command: 'npm ci && npm pack',
    place: theProject,
    instead: { command: 'npm pack --dry-run --ignore-scripts', because: `${installed}; building under other tests` },
    afterwards: says(new RegExp(`plan-gate-${version}\\.tgz`)),
  },
  {
    command: `npm install --global ./plan-gate-${version}.tgz`,
    place: theProject,
    instead: {
      command: `npm pack --ignore-scripts --pack-destination "$HOME" && npm install --global --prefix "$HOME" "$HOME/plan-gate-${version}.tgz" && "$HOME/bin/plan-gate" --version`,
      because: 'it is installed for the test alone',
    },
    afterwards: says(new RegExp(`^${version}$`, 'm')),
  },
  {
    command: 'claude plugin marketplace add "$(npm root --global)/plan-gate"',
    place: aFolder,
    instead: { command: 'test -f node_modules/plan-gate/.claude-plugin/marketplace.json', because: byRealClients },
  },
  {
    command: 'claude plugin install plan-gate@plan-gate',
    place: aFolder,
    instead: {
      command: `grep -c '"name": "plan-gate"' node_modules/plan-gate/.claude-plugin/marketplace.json`,
      because: byRealClients,
    },
    afterwards: says(/^2$/m),
  },
  {
    command: 'npx plan-gate bootstrap docs/strategy.md',
    place: aRepositoryWithClients,
    shown: 'alike',
    afterwards: ({ cwd }) => expect(existsSync(`${cwd}-strategy/.claude/hooks/plan-gate`)).toBe(true),
  },
  {
    command: 'plan-gate bootstrap docs/strategy.md',
    place: aRepositoryWithClients,
    afterwards: ({ cwd }) => expect(existsSync(`${cwd}-strategy/.claude/hooks/plan-gate`)).toBe(true),
  },
  {
    command: `printf '{"is_optimal": true, "plan_hash": "%s"}' "$(sha256sum < docs/plan.md | cut -d' ' -f1)" > .claude/review/approval.json`,
    place: aGatedCheckout,
    afterwards: (place) => expect(isOpen(place)).toBe(true),
  },
  {
    command: 'plan-gate calibrate --dry-run',
    place: aRepository,
    instead: { command: `${withAnyKey} --dry-run`, because: noReviewer },
    afterwards: says(/^\d+ copies, 3 times by each of: curl/m),
  },
  {
    command: 'plan-gate calibrate --routes codex,claude --judge openrouter',
    place: aRepository,
    instead: {
      command:
        'printf \'review:\\n  routes:\\n    - {backend: checklist, when: [always]}\\n    - {backend: curl, name: openrouter, when: [always], model: m, base_url: "http://127.0.0.1:9/v1"}\\n\' > plan-gate.yaml; plan-gate calibrate --routes checklist --judge openrouter --dry-run',
      because: 'it takes hundreds of reviews by clients and a server elsewhere; test/clients/calibrate runs it small',
    },
    afterwards: says(/^\d+ copies, 3 times by each of: checklist/m),
  },
  {
    command: 'plan-gate calibrate --effort high,xhigh --readers 1,2',
    place: aRepository,
    instead: {
      command: `${withAnyKey} --effort high,xhigh --readers 1,2 --dry-run`,
      because: `${noReviewer}; it takes hundreds of reviews, as test/harness/calibrate runs them`,
    },
    afterwards: says(/^\d+ copies, 3 times by each of: .*, .*, .*, /m),
  },
  {
    command: 'plan-gate calibrate --diff',
    place: aRepository,
    instead: { command: `${withAnyKey} --diff --dry-run`, because: noReviewer },
    afterwards: says(/^\d+ copies, 3 times by each of: /m),
  },
  { command: 'plan-gate review --diff', place: aRepository, afterwards: says(/^APPROVED/) },
  {
    command: 'plan-gate review --diff main --output r1.json',
    place: aRepository,
    afterwards: written('r1.json', 'r1-pass-1.json'),
  },
  { command: 'plan-gate review --diff main --previous r1.json', place: aRepository, afterwards: says(/^APPROVED/) },
  {
    command: 'plan-gate review --type sdd --content docs/design.md --context docs/requirements.md',
    place: aRepository,
  },
  { command: `plan-gate explain 'rg "a|b" src | head -5'`, place: aRepository, shown: 'exactly' },
  { command: `plan-gate explain 'git log | tee log.txt'`, place: aRepository, exitCode: 1, shown: 'exactly' },
  { command: `plan-gate explain 'rg TODO *.ts'`, place: aRepository, exitCode: 1, shown: 'exactly' },
  {
    command: 'npx plan-gate config --template > plan-gate.yaml',
    place: aRepository,
    afterwards: written('plan-gate.yaml'),
  },
  {
    command: 'plan-gate report --open',
    place: anApprovedCheckout,
    shown: 'alike',
    afterwards: written('.claude/review/report.html', '../opened'),
  },
  {
    command: 'plan-gate verify --export docs/plan.approval.json --ledger docs/plan.events.jsonl',
    place: anApprovedCheckout,
    shown: 'alike',
    afterwards: written('docs/plan.approval.json', 'docs/plan.events.jsonl'),
  },
  {
    command:
      'plan-gate verify --export docs/plan.approval.json --ledger docs/plan.events.jsonl && plan-gate verify --plan docs/plan.md --approval docs/plan.approval.json --ledger docs/plan.events.jsonl',
    place: anApprovedCheckout,
  },
  {
    command: `npm install --global plan-gate@${packageVersion()}`,
    place: theProject,
    instead: {
      command: `npm pack --ignore-scripts --pack-destination "$HOME" && npm install --global --prefix "$HOME" "$HOME/plan-gate-${packageVersion()}.tgz"`,
      because: 'it is not in the registry, and installed for the test alone',
    },
  },
  {
    command:
      'plan-gate verify --plan docs/plan.md --approval docs/plan.approval.json --ledger docs/plan.events.jsonl --base refs/remotes/origin/main --strict-scope --summary plan-summary.md',
    place: anApprovedCheckout,
    instead: {
      command:
        'plan-gate verify --export docs/plan.approval.json --ledger docs/plan.events.jsonl && git commit --quiet --allow-empty --message x && plan-gate verify --plan docs/plan.md --approval docs/plan.approval.json --ledger docs/plan.events.jsonl --base HEAD~1 --strict-scope --summary plan-summary.md',
      because: 'the place is not a clone, and nothing was exported in it',
    },
    afterwards: written('plan-summary.md'),
  },
  {
    command: 'plan-gate finish --dry-run',
    place: aMergedWorktree,
    shown: 'alike',
    afterwards: ({ cwd }) => expect(existsSync(cwd)).toBe(true),
  },
  {
    command: 'plan-gate finish',
    place: aMergedWorktree,
    shown: 'alike',
    afterwards: ({ cwd }) => expect(existsSync(cwd)).toBe(false),
  },
  {
    command: 'plan-gate watch',
    place: aGatedCheckout,
    instead: { command: 'timeout --preserve-status 3 plan-gate watch', because: 'it ends when you end it' },
    afterwards: says(/gate/),
  },
  {
    command: `export PLAN_GATE_NOTIFY='notify-send plan-gate "$PLAN_GATE_MESSAGE"'`,
    place: aFolder,
    instead: {
      command: `export PLAN_GATE_NOTIFY='notify-send plan-gate "$PLAN_GATE_MESSAGE"'; PLAN_GATE_MESSAGE=x; notify-send() { echo "$@"; }; eval "$PLAN_GATE_NOTIFY"`,
      because: 'notify-send may not be installed; test/integration/hooks/notify.test.ts has the hook run it',
    },
    afterwards: says(/^plan-gate x$/m),
  },
  { command: 'plan-gate status', place: aGatedCheckout, afterwards: says(/gate/) },
  { command: 'plan-gate open', place: aGatedCheckoutWithClients, afterwards: says(/self-test/) },
  {
    command: 'plan-gate watch --no-tty | tee watch.log',
    place: aGatedCheckout,
    instead: {
      command: 'timeout --preserve-status 3 plan-gate watch --no-tty | tee watch.log',
      because: 'it ends when you end it',
    },
    afterwards: written('watch.log'),
  },
  { command: 'source <(plan-gate completion bash)', place: aFolder },
  {
    command: 'plan-gate completion zsh > "${fpath[1]}/_plan-gate"',
    place: aFolder,
    instead: { command: 'plan-gate completion zsh > _plan-gate', because: '$fpath is of zsh alone' },
    afterwards: written('_plan-gate'),
  },
  {
    command: 'plan-gate completion fish > ~/.config/fish/completions/plan-gate.fish',
    place: () => {
      const place = aFolder()
      return { ...place, env: { ...place.env, HOME: place.folder, FOLDER: '.config/fish/completions' } }
    },
    instead: {
      command:
        'mkdir -p ~/.config/fish/completions && plan-gate completion fish > ~/.config/fish/completions/plan-gate.fish',
      because: 'only who uses fish has that folder',
    },
    afterwards: written('.config/fish/completions/plan-gate.fish'),
  },
  { command: 'plan-gate schema status', place: aFolder, afterwards: says(/"\$id": "urn:plan-gate:status:1"/) },
  {
    command: 'plan-gate status --json | jq -r .plan.kind',
    place: aGatedCheckout,
    instead: { command: `plan-gate status --json | grep -o '"kind":"[a-z]*"'`, because: 'jq may not be installed' },
    afterwards: says(/open/),
  },
]
