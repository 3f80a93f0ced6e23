import { Command, Option } from 'commander'
import { createReviewDependencies } from '../hooks/review-world.ts'
import { applyEnvironment } from '../review/apply-environment.ts'
import { reviewContent } from '../review/review-content.ts'
import type { PassRecord, ReviewOutcome, ReviewRequest, ReviewSettings } from '../review/review-request.ts'
import { settleResult } from '../review/settle-result.ts'
import { buildRouteTable } from '../routes/build-route-table.ts'
import { canonicalTable } from '../routes/canonical-table.ts'
import { type ReviewType, reviewTypes } from '../schemas/backend.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { sha256 } from '../store/sha256.ts'
import { type Ending, exitCodeOfSignal, takeSignals } from '../system/end-on-signals.ts'
import { UserError } from '../system/user-error.ts'
import { worktreeDiff } from '../system/worktree-diff.ts'
import { type ConfigHere, configHere } from './config-here.ts'
import { describeResult } from './describe-result.ts'
import { helpText } from './help-text.ts'
import { loadTokenizer } from './load-tokenizer.ts'
import { checkFiles, previousIn, type ReviewFlags, textIn, textOrNone, typeOf, wholeNumber } from './review-flags.ts'
import { reviewTeller } from './review-teller.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import { passesBeside, writeResult } from './write-result.ts'

export const reviewCommand = (): Command =>
  new Command('review')
    .description('Have a plan, code or a document reviewed: the same routes, passes and redaction as for docs/plan.md.')
    .addOption(new Option('--type <type>', 'what it is; with --diff it is code').choices(reviewTypes).argParser(String))
    .option('--content <file>', 'what is to be reviewed; - is standard input')
    .option('--diff [base]', 'review what differs between a commit (HEAD) and the worktree, new files included')
    .option('--expertise <file>', 'whose eyes to read with')
    .option('--context <file>', 'what it belongs to')
    .option('--output <file>', 'write the result there as JSON, and beside it what each pass answered')
    .option('--iteration <n>', 'which review of this matter it is; past review.max_iterations nobody is asked')
    .option('--previous <file>', 'the result of the review before: each finding in it gets a status')
    .option('--fast', 'a single pass')
    .option('--tool-access', 'let the reviewer read the files of this repository')
    .option('--timeout <seconds>', 'for one pass')
    .option('--json', 'the result as JSON on stdout')
    .addHelpText(
      'after',
      helpText(
        [
          ['plan-gate review --diff'],
          ['plan-gate review --diff main --expertise docs/security.md --output review.json'],
          ['plan-gate review --diff main --previous review.json --output review-2.json'],
          ['plan-gate review --type sdd --content docs/design.md --context docs/requirements.md'],
        ],
        `Progress goes to stderr, the result to stdout.
Exit code: 0 a verdict (read it from the result), 1 the reviewer failed, 2 bad input or nobody to ask, 3 out of time,
4 no credentials, 5 an answer without a verdict, 130 stopped by Ctrl-C.`,
      ),
    )
    .action(run)

async function run(flags: ReviewFlags): Promise<void> {
  const terminal = openTerminal(flags.json === true)
  checkFiles(flags)
  const place = await configHere()
  const type = typeOf(flags)
  const { review, notices } = applyEnvironment(place.config.review, process.env)
  const request = await requestFrom(flags, type, review, place)
  const settings = settingsFrom(flags, review, place)
  const teller = reviewTeller(terminal)
  for (const text of notices) teller.tell({ kind: 'notice', text })
  teller.tell({ kind: 'trace', line: `[route-table] sha256 ${sha256(canonicalTable(settings.table))}` })
  const stop = stopOnSignals()
  const passes: PassRecord[] = []
  const world = createReviewDependencies({
    config: { ...place.config, review },
    root: place.root,
    env: process.env,
    signal: stop.signal,
    loadTokenizer,
  })
  try {
    const outcome = await reviewContent(request, settings, {
      ...world,
      tell: teller.tell,
      keepPass: (pass) => void passes.push(pass),
      keepThread: () => {},
    })
    teller.end()
    report(outcome, passes, flags, stop.by(), terminal)
  } finally {
    teller.end()
    stop.giveBack()
  }
}

async function requestFrom(
  flags: ReviewFlags,
  type: ReviewType,
  review: EffectiveConfig['review'],
  place: ConfigHere,
): Promise<ReviewRequest> {
  const previous = await previousIn(flags.previous)
  const timeout = wholeNumber('timeout', flags.timeout, 3600)
  const passSeconds = timeout ?? review.timeout_seconds
  return {
    type,
    content: await contentFrom(flags, type, place),
    expertise: await textOrNone('expertise', flags.expertise),
    context: await textOrNone('context', flags.context),
    iteration: wholeNumber('iteration', flags.iteration, 1000) ?? previous.iteration + 1,
    earlier: previous.findings,
    lastId: previous.lastId,
    changes: null,
    root: flags.toolAccess === true || review.tool_access ? place.root : null,
    thread: { kind: 'none' },
    fast: flags.fast === true,
    passTimeoutMs: passSeconds * 1000,
    totalMs: Math.max(passSeconds, review.policy.max_total_seconds) * 1000,
  }
}

async function contentFrom(flags: ReviewFlags, type: ReviewType, { root, checkout }: ConfigHere): Promise<string> {
  if (flags.diff !== undefined && flags.content !== undefined)
    throw new UserError('--diff and --content are two things to review.', 'Give one of them.')
  if (flags.diff === undefined)
    return notEmpty(await textIn('content', flags.content ?? (type === 'plan' ? `${root}/docs/plan.md` : missing())))
  const { gitDirs } = checkout ?? (await sayWhyNone())
  const diff = await worktreeDiff(root, gitDirs, flags.diff === true ? 'HEAD' : flags.diff)
  if (diff.trim() === '')
    throw new UserError('Nothing differs, so there is nothing to review.', 'Name another base: --diff main.')
  return diff
}

/** What git has to say about a folder that is in no checkout is said by the commands that need one. */
async function sayWhyNone(): Promise<NonNullable<ConfigHere['checkout']>> {
  const { findCheckout } = await import('../../bootstrap/install/install-here.ts')
  return findCheckout(process.cwd())
}

const missing = (): never => {
  throw new UserError(
    'There is nothing to review.',
    'Give --content <file>, --content - for standard input, or --diff.',
  )
}

function notEmpty(text: string): string {
  if (text.trim() !== '') return text
  throw new UserError('What is to be reviewed is empty.', 'Give a file with text in it.')
}

function settingsFrom(
  { timeout }: ReviewFlags,
  review: EffectiveConfig['review'],
  { chosenByUser }: ConfigHere,
): ReviewSettings {
  const built = buildRouteTable(review, process.env, { chosenByUser })
  if (built.kind === 'table') {
    // What is asked for now counts more than what a row says.
    const routes = built.table.routes.map((route) => (timeout === undefined ? route : { ...route, timeoutMs: null }))
    return { review, table: { ...built.table, routes }, maxIterations: review.max_iterations }
  }
  throw new UserError(
    `There is no route table to review by:\n${built.problems.map((line) => `  ${line}`).join('\n')}`,
    'See `plan-gate routes`.',
  )
}

/** The result is shown before it is written: a full disk must not cost the review. */
function report(
  outcome: ReviewOutcome,
  passes: readonly PassRecord[],
  { output }: ReviewFlags,
  stoppedBy: Ending | null,
  terminal: Terminal,
): void {
  if (outcome.kind === 'unavailable') {
    if (output !== undefined) passesBeside(output, passes)
    const exitCode = stoppedBy === null ? outcome.exitCode : exitCodeOfSignal(stoppedBy)
    throw new UserError(outcome.why, outcome.nextStep, exitCode)
  }
  const result = settleResult(outcome.result, outcome.earlier)
  const text = JSON.stringify(result, null, 2)
  terminal.out(terminal.json ? text : describeResult(result, terminal))
  if (output === undefined) return
  writeResult(output, `${text}\n`)
  passesBeside(output, passes)
}

/** Ctrl-C ends the reviewer first, and then us; a second one does not wait for that. */
function stopOnSignals(): { signal: AbortSignal; by: () => Ending | null; giveBack: () => void } {
  const abort = new AbortController()
  let by: Ending | null = null
  const giveBack = takeSignals((name) => {
    if (by !== null) process.exit(exitCodeOfSignal(name))
    by = name
    abort.abort()
  })
  return { signal: abort.signal, by: () => by, giveBack }
}
