import { lstatSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { applyEnvironment } from '../config/environment.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { readPlanScope } from '../gate/scope.ts'
import { readAnswer } from '../review/answer.ts'
import { readGuidelines } from '../review/material.ts'
import type { PassRecord, ReviewOutcome, ReviewRequest, ReviewSettings } from '../review/request.ts'
import { createReviewDependencies, reviewContent } from '../review/review.ts'
import { settleReview } from '../review/settle.ts'
import { countTokensNear, estimateTokens, mayExceedBudget, openTokenizer } from '../review/tokens.ts'
import { canonicalTable } from '../reviewers/route-table.ts'
import { type AnsweredFinding, type Finding, type ReviewType, reviewTypes } from '../schemas/review.ts'
import { readPlanBytes } from '../state/approval.ts'
import { planPath } from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { git, gitOrNull } from '../system/git.ts'
import { findCheckout } from '../system/repository.ts'
import { sha256 } from '../system/sha256.ts'
import { type ExitSignal, exitCodeOfSignal } from '../system/signals.ts'
import { worktreeDiff } from '../system/worktree-diff.ts'
import { clipEnd } from '../text/clean.ts'
import { parseDiff } from '../text/diff.ts'
import { type ConfigHere, configHere } from './config-here.ts'
import { newCommand } from './new-command.ts'
import { checkOutput, writeResult } from './output-file.ts'
import { describeResult, reviewProgress } from './review-output.ts'
import { abortOnExitSignals, loadTokenizer, routeTableOf, wholeNumber } from './reviewing.ts'
import { openTerminal, type Terminal } from './terminal.ts'

type Flags = {
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

type Review = EffectiveConfig['review']

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

async function run(flags: Flags): Promise<void> {
  const terminal = openTerminal(flags.json === true)
  checkFiles(flags)
  const here = await configHere()
  const type = typeOf(flags)
  const { review, notices: ignored } = applyEnvironment(here.config.review, process.env)
  const settings = settingsFrom(flags, review, here)
  const { request, notices } = await requestFrom(flags, type, review, here)
  const progress = reviewProgress(terminal)
  for (const text of [...ignored, ...notices]) progress.onEvent({ kind: 'notice', text })
  progress.onEvent({ kind: 'trace', line: `[route-table] sha256 ${sha256(canonicalTable(settings.table))}` })
  const stop = abortOnExitSignals()
  const passes: PassRecord[] = []
  const dependencies = createReviewDependencies({
    config: { ...here.config, review },
    root: here.root,
    env: process.env,
    signal: stop.abort.signal,
    loadTokenizer,
  })
  try {
    // A review that fails, or is killed, must not leave an older verdict where its own is expected.
    if (flags.output !== undefined && isFile(flags.output)) renameSync(flags.output, asideOf(flags.output))
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

/** Errors that would otherwise show only after the review. */
function checkFiles({ content, expertise, context, previous, output }: Flags): void {
  const inputs = Object.entries({ content, expertise, context, previous })
  const onStdin = inputs.flatMap(([name, file]) => (file === '-' ? [`--${name}`] : []))
  if (onStdin.length > 1)
    throw new UserError(`${onStdin.join(' and ')} cannot both be stdin.`, 'Give a file for one of them.')
  if (output === undefined) return
  const isOutput = (file: string | undefined): boolean =>
    file !== undefined && file !== '-' && resolve(file) === resolve(output)
  const same = inputs.find(([name, file]) => name !== 'previous' && isOutput(file))
  if (same !== undefined)
    throw new UserError(`--output would overwrite what --${same[0]} names.`, 'Give another file with --output.')
  checkOutput(output)
}

function typeOf({ type, diff }: Flags): ReviewType {
  const name = type ?? (diff === undefined ? undefined : 'code')
  const known = reviewTypes.find((each) => each === name)
  if (known !== undefined) return known
  throw new UserError(
    name === undefined ? '--type is missing.' : `${JSON.stringify(name)} is not a type of review.`,
    `Choose one: --type ${reviewTypes.join(', ')}.`,
  )
}

/** --timeout overrides the routes. */
function settingsFrom({ timeout }: Flags, review: Review, here: ConfigHere): ReviewSettings {
  const table = routeTableOf(review, here)
  const routes = timeout === undefined ? table.routes : table.routes.map((route) => ({ ...route, timeoutMs: null }))
  return { review, table: { ...table, routes }, maxIterations: review.max_iterations }
}

async function requestFrom(
  flags: Flags,
  type: ReviewType,
  review: Review,
  here: ConfigHere,
): Promise<{ request: ReviewRequest; notices: readonly string[] }> {
  const previous = await previousIn(flags.previous)
  const passSeconds = flags.timeout === undefined ? review.timeout_seconds : wholeNumber('timeout', flags.timeout, 3600)
  const { content, base } = await contentFrom(flags, type, review, here)
  if (type === 'plan') await refuseLongPlan(content, here.config.plan.max_tokens)
  // A document touches itself, and the files that it names as a plan does.
  const named =
    flags.content === undefined || flags.content === '-' ? [] : [relative(here.root, resolve(flags.content))]
  const touched =
    type === 'code'
      ? (parseDiff(content)?.files ?? []).map(({ path }) => path)
      : [...named, ...readPlanScope(content).map(({ pattern }) => pattern)]
  const about = { type, touched, base }
  const guidelines = readGuidelines(here.root, here.checkout?.gitDirs.own ?? null, review.guidelines, about)
  const request: ReviewRequest = {
    type,
    content,
    expertise: flags.expertise === undefined ? null : await textIn('expertise', flags.expertise),
    context: flags.context === undefined ? null : await textIn('context', flags.context),
    iteration: flags.iteration === undefined ? previous.iteration + 1 : wholeNumber('iteration', flags.iteration, 1000),
    earlier: previous.findings,
    lastId: previous.lastId,
    changes: null,
    intent: type === 'code' ? approvedPlan(here.root) : null,
    guidelines: guidelines.text,
    replies: null,
    contested: [],
    rounds: review.max_iterations,
    settle: settleReview(previous.byChecklist),
    root: flags.toolAccess === true || review.tool_access ? here.root : null,
    thread: { kind: 'none' },
    fast: flags.fast === true,
    passTimeoutMs: passSeconds * 1000,
    totalMs: Math.max(passSeconds, review.policy.max_total_seconds) * 1000,
  }
  return { request, notices: [...guidelines.notices, ...(base === null ? [] : unseenFiles(content))] }
}

/** `base`: the commit that a change starts from; null: the content is no change. */
async function contentFrom(
  { diff, content: file }: Flags,
  type: ReviewType,
  review: Review,
  { root, checkout }: ConfigHere,
): Promise<{ content: string; base: string | null }> {
  if (diff === undefined) {
    if (file === undefined && type !== 'plan')
      throw new UserError(
        'There is nothing to review.',
        'Give --content <file>, --content - for standard input, or --diff.',
      )
    const content = await textIn('content', file ?? `${root}/${planPath}`)
    if (content.trim() !== '') return { content, base: null }
    throw new UserError('The content to review is empty.', 'Give a file that is not empty.')
  }
  if (file !== undefined) throw new UserError('--diff and --content cannot be combined.', 'Give one of them.')
  const { gitDirs } = checkout ?? (await findCheckout(process.cwd()))
  const from = diff === true ? 'HEAD' : diff
  const commit = await gitOrNull(root, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${from}^{commit}`])
  if (commit === null)
    throw new UserError(`${from} is not a commit here.`, 'Give a branch, a tag or a commit: --diff main.')
  const base = commit.trim()
  const budget = review.multipass.budgets.pass2_input * 0.9
  const content = await worktreeDiff(
    gitDirs,
    { commit: base, without: planPath },
    (args, env) => git(root, args, { env, timeoutMs: 120_000 }),
    (text) => estimateTokens(text) < budget,
  )
  if (content.trim() === '') throw new UserError('There are no changes to review.', 'Name another base: --diff main.')
  return { content, base }
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

/** Printed before it is written: a full disk must not lose the review. */
function report(
  outcome: ReviewOutcome,
  passes: readonly PassRecord[],
  { output }: Flags,
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

/** `review.json` → `review-pass-1.json` and so on, failed attempts included. Removes those of an earlier review. */
function writePasses(file: string, passes: readonly PassRecord[]): void {
  const nameOf = (n: number): string => join(dirname(file), `${basename(file, extname(file))}-pass-${n}.json`)
  for (const [index, pass] of passes.entries()) writeResult(nameOf(index + 1), `${JSON.stringify(pass, null, 2)}\n`)
  for (let n = passes.length + 1; isFile(nameOf(n)); n++) rmSync(nameOf(n))
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true

/** Far above any token budget. */
const maxInputBytes = 50 * 1024 * 1024

/** `-` is stdin. Rejects text that is not UTF-8: the reviewer would see something else. */
async function textIn(name: string, file: string): Promise<string> {
  const called = file === '-' ? 'stdin' : file
  const bytes = file === '-' ? await bytesOnStdin() : bytesOf(name, file)
  if (bytes.length > maxInputBytes)
    throw new UserError(`${called} has more than ${maxInputBytes / 1024 / 1024} MB.`, 'Review it in parts.')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UserError(`${called} is not UTF-8 text.`, `Convert it, or give another file with --${name}.`)
  }
}

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
    throw new UserError(`${file} cannot be read (${why}).`, `Give a readable file with --${name}.`)
  }
}

type Previous = Pick<ReviewRequest, 'iteration' | 'lastId'> & {
  readonly findings: readonly Finding[]
  readonly byChecklist: boolean
}

/** A result of `plan-gate review`, or any answer that matches the schema. */
async function previousIn(file: string | undefined): Promise<Previous> {
  if (file === undefined) return { findings: [], iteration: 0, lastId: 0, byChecklist: false }
  const text = await textIn('previous', file)
  const { verdict, iteration, findings = [], pass_metadata: meta } = parsedOrEmpty(text)
  const isCounted = typeof iteration === 'number' && Number.isSafeInteger(iteration) && iteration > 0
  const known = { iteration: isCounted ? iteration : 1, byChecklist: meta?.route === 'checklist' }
  if (verdict === 'SKIPPED' && Array.isArray(findings) && findings.length === 0)
    return { findings: [], lastId: 0, ...known }
  const read = readAnswer(text, { reviewed: [] })
  if (read.kind === 'valid') return { ...withIds(read.answer.findings), ...known }
  const called = file === '-' ? 'stdin' : file
  throw new UserError(`${called} is not the result of a review: ${read.why}`, 'Give a file that --output has written.')
}

type Result = { verdict?: unknown; iteration?: unknown; findings?: unknown; pass_metadata?: { route?: unknown } }

function parsedOrEmpty(text: string): Result {
  try {
    return (JSON.parse(text) as Result | null) ?? {}
  } catch {
    return {}
  }
}

/** Findings of other tools may have no ids, or duplicates. */
function withIds(answered: readonly AnsweredFinding[]): Pick<Previous, 'findings' | 'lastId'> {
  const numberIn = (id: string | null): number => Number(/^F(\d{1,6})$/.exec(id ?? '')?.[1] ?? 0)
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
