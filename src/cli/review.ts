import { lstatSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Command, Option } from 'commander'
import { applyEnvironment } from '../config/environment.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { readPlanScope } from '../gate/scope.ts'
import { readAnswer } from '../review/answer/answer.ts'
import { readGuidelines } from '../review/intent.ts'
import { settleReview } from '../review/reconcile.ts'
import type { PassRecord, ReviewOutcome, ReviewRequest, ReviewSettings } from '../review/request.ts'
import { createReviewDependencies, reviewContent } from '../review/review.ts'
import { countTokensNear, estimateTokens, mayExceedBudget, openTokenizer } from '../review/tokens.ts'
import { buildRouteTable, canonicalTable } from '../reviewers/route-table.ts'
import { type AnsweredFinding, type Finding, type ReviewType, reviewTypes } from '../schemas/review.ts'
import { readPlanBytes } from '../state/approval.ts'
import { planPath } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { git, gitOrNull } from '../system/git.ts'
import { packageRoot } from '../system/package.ts'
import { sha256 } from '../system/sha256.ts'
import { type ExitSignal, exitCodeOfSignal, interceptSignals } from '../system/signals.ts'
import { worktreeDiff } from '../system/worktree-diff.ts'
import { clipEnd } from '../text/clean.ts'
import { parseDiff } from '../text/unified-diff.ts'
import { type ConfigHere, configHere } from './config-here.ts'
import { newCommand } from './new-command.ts'
import { checkOutput, writeResult } from './output-file.ts'
import { reviewProgress } from './review-progress.ts'
import { describeResult } from './review-result.ts'
import { openTerminal, type Terminal } from './terminal.ts'

export const reviewCommand = (): Command =>
  newCommand(
    'review',
    'Review a plan, code or a document, with the same routes, passes and redaction as docs/plan.md.',
    [
      'plan-gate review --diff',
      'plan-gate review --diff main --expertise docs/security.md --output review.json',
      'plan-gate review --diff main --previous review.json --output review-2.json',
      'plan-gate review --type sdd --content docs/design.md --context docs/requirements.md',
    ],
    `Progress goes to stderr, the result to stdout.
Exit code: 0 a verdict (read it from the result), 1 the reviewer failed, 2 bad input or no usable route, 3 timeout,
4 no credentials, 5 an answer without a verdict, 130 stopped by Ctrl-C.`,
  )
    .addOption(
      new Option('--type <type>', 'the type of the content (default with --diff: code)')
        .choices(reviewTypes)
        .argParser(String),
    )
    .option('--content <file>', 'the content to review; - for stdin')
    .option('--diff [base]', 'review the changes since a commit (default: HEAD), including new files')
    .option('--expertise <file>', 'reviewer profile file')
    .option('--context <file>', 'background document')
    .option('--output <file>', 'write the result as JSON, and the answer of each pass beside it')
    .option('--iteration <n>', 'the number of this review; none is done past review.max_iterations')
    .option('--previous <file>', 'the result of the previous review: each of its findings gets a status')
    .option('--fast', 'a single pass')
    .option('--tool-access', 'let the reviewer read the files of this repository')
    .option('--timeout <seconds>', 'the timeout of one pass')
    .option('--json', 'the result as JSON on stdout')
    .action(run)

async function run(flags: ReviewFlags): Promise<void> {
  const terminal = openTerminal(flags.json === true)
  checkFiles(flags)
  const context = await configHere()
  const type = typeOf(flags)
  const { review, notices: ignored } = applyEnvironment(context.config.review, process.env)
  const notices = [...ignored]
  const settings = settingsFrom(flags, review, context)
  const request = await requestFrom(flags, type, review, context, (text) => notices.push(text))
  const progress = reviewProgress(terminal)
  for (const text of notices) progress.onEvent({ kind: 'notice', text })
  progress.onEvent({ kind: 'trace', line: `[route-table] sha256 ${sha256(canonicalTable(settings.table))}` })
  const stop = abortOnExitSignals()
  const passes: PassRecord[] = []
  const dependencies = createReviewDependencies({
    config: { ...context.config, review },
    root: context.root,
    env: process.env,
    signal: stop.signal,
    loadTokenizer,
  })
  try {
    setAside(flags.output)
    const outcome = await reviewContent(request, settings, {
      ...dependencies,
      onEvent: progress.onEvent,
      savePass: (pass) => void passes.push(pass),
      saveThread: () => {},
    })
    progress.end()
    report(outcome, passes, flags, stop.by(), terminal)
  } finally {
    progress.end()
    stop.release()
  }
}

async function requestFrom(
  flags: ReviewFlags,
  type: ReviewType,
  review: EffectiveConfig['review'],
  context: ConfigHere,
  notice: (text: string) => void,
): Promise<ReviewRequest> {
  const previous = await previousIn(flags.previous)
  const timeout = wholeNumber('timeout', flags.timeout, 3600)
  const passSeconds = timeout ?? review.timeout_seconds
  const { content, base } = await contentFrom(flags, type, review, context)
  if (type === 'plan') await refuseLongPlan(content, context.config.plan.max_tokens)
  const touched = type === 'code' ? changedPaths(content) : touchedBy(content, flags.content, context.root)
  const guidelines = readGuidelines(context.root, context.checkout?.gitDirs.own ?? null, review.guidelines, {
    type,
    touched,
    base,
  })
  for (const text of [...guidelines.notices, ...unseenFiles(base === null ? '' : content)]) notice(text)
  return {
    type,
    content,
    expertise: await textOrNone('expertise', flags.expertise),
    context: await textOrNone('context', flags.context),
    iteration: wholeNumber('iteration', flags.iteration, 1000) ?? previous.iteration + 1,
    earlier: previous.findings,
    lastId: previous.lastId,
    changes: null,
    intent: type === 'code' ? approvedPlan(context.root) : null,
    guidelines: guidelines.text,
    replies: null,
    contested: [],
    rounds: review.max_iterations,
    settle: settleReview(previous.byChecklist),
    root: flags.toolAccess === true || review.tool_access ? context.root : null,
    thread: { kind: 'none' },
    fast: flags.fast === true,
    passTimeoutMs: passSeconds * 1000,
    totalMs: Math.max(passSeconds, review.policy.max_total_seconds) * 1000,
  }
}

/** A plan is never shortened: what is approved was read. */
async function refuseLongPlan(plan: string, limit: number): Promise<void> {
  if (!mayExceedBudget(plan, limit)) return
  const tokens = await countTokensNear(plan, [limit], () => openTokenizer(loadTokenizer))
  if (tokens > limit)
    throw new UserError(
      `The plan has ${tokens} tokens, more than plan.max_tokens (${limit}), and is never cut for a review.`,
      'Shorten it, divide it, or raise plan.max_tokens in plan-gate.yaml.',
    )
}

/** What a change to code is for. */
function approvedPlan(root: string): string | null {
  if (readPlanState(root).kind !== 'approved') return null
  const plan = readPlanBytes(root)
  return plan.kind === 'read' ? plan.bytes.toString('utf8') : null
}

/** Git tells of a binary file, and of one that an attribute calls so, only that it differs. */
function unseenFiles(diff: string): readonly string[] {
  const files = [...diff.matchAll(/^Binary files (.+) differ$/gm)].map(([, names = '']) => names)
  return files.length === 0 ? [] : [`Not sent, because git takes them for binary: ${clipEnd(files.join('; '), 500)}.`]
}

const changedPaths = (content: string): readonly string[] => parseDiff(content)?.files.map(({ path }) => path) ?? []

/** A document touches itself, and the files that it names as a plan does. */
const touchedBy = (content: string, file: string | undefined, root: string): readonly string[] => [
  ...(file === undefined || file === '-' ? [] : [relative(root, resolve(file))]),
  ...readPlanScope(content).map(({ pattern }) => pattern),
]

type Content = {
  readonly content: string
  /** The commit that a change starts from; null: the content is no change. */
  readonly base: string | null
}

async function contentFrom(
  flags: ReviewFlags,
  type: ReviewType,
  review: EffectiveConfig['review'],
  { root, checkout }: ConfigHere,
): Promise<Content> {
  if (flags.diff !== undefined && flags.content !== undefined)
    throw new UserError('--diff and --content cannot be combined.', 'Give one of them.')
  if (flags.diff === undefined) {
    const file = flags.content ?? (type === 'plan' ? `${root}/${planPath}` : missing())
    return { content: notEmpty(await textIn('content', file)), base: null }
  }
  const { gitDirs } = checkout ?? (await checkoutOrThrow())
  const base = await commitOf(root, flags.diff === true ? 'HEAD' : flags.diff)
  const runGit = (args: readonly string[], env: { readonly [name: string]: string }): Promise<string> =>
    git(root, args, { env, timeoutMs: 120_000 })
  const budget = review.multipass.budgets.pass2_input * 0.9
  const content = await worktreeDiff(
    gitDirs,
    { commit: base, without: planPath },
    runGit,
    (diff) => estimateTokens(diff) < budget,
  )
  if (content.trim() === '') throw new UserError('There are no changes to review.', 'Name another base: --diff main.')
  return { content, base }
}

async function commitOf(root: string, base: string): Promise<string> {
  const commit = await gitOrNull(root, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`])
  if (commit === null)
    throw new UserError(`${base} is not a commit here.`, 'Give a branch, a tag or a commit: --diff main.')
  return commit.trim()
}

/** Throws the error of the commands that need a checkout. */
async function checkoutOrThrow(): Promise<NonNullable<ConfigHere['checkout']>> {
  const { findCheckout } = await import('../system/repository.ts')
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
  throw new UserError('The content to review is empty.', 'Give a file that is not empty.')
}

function settingsFrom(
  { timeout }: ReviewFlags,
  review: EffectiveConfig['review'],
  { chosenByUser }: ConfigHere,
): ReviewSettings {
  const built = buildRouteTable(review, process.env, { chosenByUser })
  if (built.kind === 'table') {
    // --timeout overrides the routes.
    const routes = built.table.routes.map((route) => (timeout === undefined ? route : { ...route, timeoutMs: null }))
    return { review, table: { ...built.table, routes }, maxIterations: review.max_iterations }
  }
  throw new UserError(
    `The route table is not valid:\n${built.problems.map((line) => `  ${line}`).join('\n')}`,
    'See `plan-gate routes`.',
  )
}

/** Printed before it is written: a full disk must not lose the review. */
function report(
  outcome: ReviewOutcome,
  passes: readonly PassRecord[],
  { output }: ReviewFlags,
  stoppedBy: ExitSignal | null,
  terminal: Terminal,
): void {
  if (outcome.kind === 'unavailable') {
    if (output !== undefined) writePasses(output, passes)
    const exitCode = stoppedBy === null ? outcome.exitCode : exitCodeOfSignal(stoppedBy)
    const kept = output !== undefined && isFile(asideOf(output)) ? ` The former result is in ${asideOf(output)}.` : ''
    throw new UserError(outcome.why, `${outcome.nextStep}${kept}`, exitCode)
  }
  const { result } = outcome
  const text = JSON.stringify(result, null, 2)
  terminal.out(terminal.json ? text : describeResult(result, terminal))
  if (output === undefined) return
  writeResult(output, `${text}\n`)
  writePasses(output, passes)
  rmSync(asideOf(output), { force: true })
}

const asideOf = (output: string): string => `${output}.old`

/** A review that fails, or is killed, must not leave an older verdict where its own is expected. */
function setAside(output: string | undefined): void {
  if (output !== undefined && isFile(output)) renameSync(output, asideOf(output))
}

/** The first Ctrl-C ends the reviewer, and then this process; the second exits at once. */
function abortOnExitSignals(): { signal: AbortSignal; by: () => ExitSignal | null; release: () => void } {
  const abort = new AbortController()
  let by: ExitSignal | null = null
  const release = interceptSignals((name) => {
    if (by !== null) process.exit(exitCodeOfSignal(name))
    by = name
    abort.abort()
  })
  return { signal: abort.signal, by: () => by, release }
}

/** A separate bundle, because its tables are larger than everything else together. */
const loadTokenizer = (): Promise<typeof import('../review/count-tokens.ts')> =>
  import(pathToFileURL(join(packageRoot(), 'dist', 'tokenizer.mjs')).href) as Promise<
    typeof import('../review/count-tokens.ts')
  >

type ReviewFlags = {
  type?: string
  content?: string
  diff?: string | true
  expertise?: string
  context?: string
  output?: string
  iteration?: string
  previous?: string
  fast?: boolean
  toolAccess?: boolean
  timeout?: string
  json?: boolean
}

/** Far above any token budget. */
const maxInputBytes = 50 * 1024 * 1024

function typeOf({ type, diff }: ReviewFlags): ReviewType {
  const name = type ?? (diff === undefined ? undefined : 'code')
  const known = reviewTypes.find((each) => each === name)
  if (known !== undefined) return known
  throw new UserError(
    name === undefined ? '--type is missing.' : `${JSON.stringify(name)} is not a type of review.`,
    `Choose one: --type ${reviewTypes.join(', ')}.`,
  )
}

/** Errors that would otherwise show only after the review. */
function checkFiles({ content, expertise, context, previous, output }: ReviewFlags): void {
  const inputs = { content, expertise, context, previous }
  const onStdin = Object.entries(inputs).flatMap(([name, file]) => (file === '-' ? [`--${name}`] : []))
  if (onStdin.length > 1)
    throw new UserError(`${onStdin.join(' and ')} cannot both be stdin.`, 'Give a file for one of them.')
  if (output === undefined) return
  const same = Object.entries({ content, expertise, context }).find(
    ([, file]) => file !== undefined && file !== '-' && resolve(file) === resolve(output),
  )
  if (same !== undefined)
    throw new UserError(`--output would overwrite what --${same[0]} names.`, 'Give another file with --output.')
  checkOutput(output)
}

function wholeNumber(name: string, value: string | undefined, max: number): number | null {
  if (value === undefined) return null
  if (/^[1-9]\d{0,5}$/.test(value) && Number(value) <= max) return Number(value)
  throw new UserError(`--${name} ${value} is not a whole number from 1 to ${max}.`, `For example: --${name} 2.`)
}

const textOrNone = async (name: string, file: string | undefined): Promise<string | null> =>
  file === undefined ? null : textIn(name, file)

/** `-` is stdin. Rejects text that is not UTF-8: the reviewer would see something else. */
async function textIn(name: string, file: string): Promise<string> {
  const bytes = file === '-' ? await bytesOnStdin() : bytesOf(name, file)
  if (bytes.length > maxInputBytes)
    throw new UserError(`${nameOf(file)} has more than ${maxInputBytes / 1024 / 1024} MB.`, 'Review it in parts.')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UserError(`${nameOf(file)} is not UTF-8 text.`, `Convert it, or give another file with --${name}.`)
  }
}

const nameOf = (file: string): string => (file === '-' ? 'stdin' : file)

/** As a stream: `readFileSync` fails with EAGAIN on a non-blocking pipe. */
async function bytesOnStdin(): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > maxInputBytes) break
  }
  return Buffer.concat(pieces)
}

function bytesOf(name: string, file: string): Buffer {
  try {
    if (!statSync(file).isFile() && !statSync(file).isFIFO()) throw new TypeError('not a file')
    return readFileSync(file)
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'not a file'
    throw new UserError(`${nameOf(file)} cannot be read (${why}).`, `Give a readable file with --${name}.`)
  }
}

type Previous = {
  readonly findings: readonly Finding[]
  readonly iteration: number
  readonly lastId: number
  readonly byChecklist: boolean
}

/** A result of `plan-gate review`, or any answer that matches the schema. */
async function previousIn(file: string | undefined): Promise<Previous> {
  if (file === undefined) return { findings: [], iteration: 0, lastId: 0, byChecklist: false }
  const text = await textIn('previous', file)
  const { verdict, iteration = 1, route, isEmpty } = resultIn(text)
  const byChecklist = route === 'checklist'
  if (verdict === 'SKIPPED' && isEmpty) return { findings: [], iteration, lastId: 0, byChecklist }
  const read = readAnswer(text, { reviewed: [] })
  if (read.kind === 'malformed')
    throw new UserError(
      `${nameOf(file)} is not the result of a review: ${read.why}`,
      'Give a file that --output has written.',
    )
  return { ...withIds(read.answer.findings), iteration, byChecklist }
}

type OwnResult = {
  readonly verdict?: unknown
  readonly iteration?: number
  readonly route?: unknown
  /** It has no finding. */
  readonly isEmpty: boolean
}

function resultIn(text: string): OwnResult {
  try {
    type Result = { verdict?: unknown; iteration?: unknown; findings?: unknown; pass_metadata?: { route?: unknown } }
    const value = JSON.parse(text) as Result | null
    const iteration = value?.iteration
    const counts = typeof iteration === 'number' && Number.isSafeInteger(iteration) && iteration > 0
    const isEmpty = value?.findings === undefined || (Array.isArray(value.findings) && value.findings.length === 0)
    return { verdict: value?.verdict, route: value?.pass_metadata?.route, isEmpty, ...(counts ? { iteration } : {}) }
  } catch {
    return { isEmpty: true }
  }
}

/** Findings of other tools may have no ids, or duplicates. */
function withIds(answered: readonly AnsweredFinding[]): Pick<Previous, 'findings' | 'lastId'> {
  let lastId = Math.max(0, ...answered.map(({ id }) => numberIn(id)))
  const taken = new Set<string>()
  const findings = answered.map((finding): Finding => {
    const own = finding.id === null || taken.has(finding.id) || numberIn(finding.id) === 0 ? null : finding.id
    const id = own ?? `F${++lastId}`
    taken.add(id)
    return { ...finding, id }
  })
  return { findings, lastId }
}

const numberIn = (id: string | null): number => Number(/^F(\d{1,6})$/.exec(id ?? '')?.[1] ?? 0)

/** `review.json` → `review-pass-1.json` and so on, failed attempts included. Removes those of an earlier review. */
function writePasses(file: string, passes: readonly PassRecord[]): void {
  const nameOf = (n: number): string => join(dirname(file), `${basename(file, extname(file))}-pass-${n}.json`)
  for (const [index, pass] of passes.entries()) writeResult(nameOf(index + 1), `${JSON.stringify(pass, null, 2)}\n`)
  for (let n = passes.length + 1; isFile(nameOf(n)); n++) rmSync(nameOf(n))
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
