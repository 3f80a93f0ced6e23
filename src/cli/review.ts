import { lstatSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { applyEnvironment } from '../config/environment.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { readPlanScope } from '../gate/scope.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import { passLabels } from '../report/events.ts'
import { readAnswer } from '../review/answer.ts'
import { formatDollars, foundBy, otherReaders } from '../review/findings.ts'
import { readGuidelines } from '../review/material.ts'
import type { PassRecord, ReviewEvent, ReviewOutcome, ReviewRequest, ReviewSettings } from '../review/request.ts'
import { createReviewDependencies, reviewContent } from '../review/review.ts'
import { settleReview } from '../review/settle.ts'
import { countTokensNear, estimateTokens, mayExceedBudget, openTokenizer } from '../review/tokens.ts'
import { canonicalTable } from '../reviewers/route-table.ts'
import {
  type AnsweredFinding,
  type Finding,
  type ReviewResult,
  type ReviewType,
  reviewTypes,
} from '../schemas/review.ts'
import { readPlanBytes } from '../state/approval.ts'
import { planPath } from '../state/own-paths.ts'
import { formatForecast } from '../state/pass-times.ts'
import { isDebugging, UserError } from '../system/errors.ts'
import { git, gitOrNull } from '../system/git.ts'
import { findCheckout } from '../system/repository.ts'
import { sha256 } from '../system/sha256.ts'
import { type ExitSignal, exitCodeOfSignal } from '../system/signals.ts'
import { worktreeDiff } from '../system/worktree-diff.ts'
import { clipEnd, clockTime, present, roughTime } from '../text/clean.ts'
import { parseDiff } from '../text/diff.ts'
import { clipToWidth } from '../text/width.ts'
import type { Flags, Run } from './command.ts'
import { abortOnExitSignals, type ConfigHere, configHere, loadTokenizer, routeTableOf, wholeNumber } from './config.ts'
import { checkOutput, oneLine, type Terminal, writeResult } from './terminal.ts'

type ReviewFlags = Flags<'review'>
type Review = EffectiveConfig['review']

export const reviewCommand: Run<'review'> = async (flags, terminal) => {
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
    if (flags.output !== null && isFile(flags.output)) renameSync(flags.output, asideOf(flags.output))
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
function checkFiles({ content, expertise, context, previous, output }: ReviewFlags): void {
  const inputs = Object.entries({ content, expertise, context, previous })
  const onStdin = inputs.flatMap(([name, file]) => (file === '-' ? [`--${name}`] : []))
  if (onStdin.length > 1)
    throw new UserError(`${onStdin.join(' and ')} cannot both be stdin.`, 'Give a file for one of them.')
  if (output === null) return
  const isOutput = (file: string | null): boolean => file !== null && file !== '-' && resolve(file) === resolve(output)
  const same = inputs.find(([name, file]) => name !== 'previous' && isOutput(file))
  if (same !== undefined)
    throw new UserError(`--output would overwrite what --${same[0]} names.`, 'Give another file with --output.')
  checkOutput(output)
}

function typeOf({ type, diff }: ReviewFlags): ReviewType {
  const name = type ?? (diff === null ? null : 'code')
  const known = reviewTypes.find((each) => each === name)
  if (known !== undefined) return known
  throw new UserError(
    name === null ? '--type is missing.' : `${JSON.stringify(name)} is not a type of review.`,
    `Choose one: --type ${reviewTypes.join(', ')}.`,
  )
}

function settingsFrom({ timeout }: ReviewFlags, review: Review, here: ConfigHere): ReviewSettings {
  const table = routeTableOf(review, here)
  const routes = timeout === null ? table.routes : table.routes.map((route) => ({ ...route, timeoutMs: null }))
  return { review, table: { ...table, routes }, maxIterations: review.max_iterations }
}

async function requestFrom(
  flags: ReviewFlags,
  type: ReviewType,
  review: Review,
  here: ConfigHere,
): Promise<{ request: ReviewRequest; notices: readonly string[] }> {
  const previous = await previousIn(flags.previous)
  const passSeconds = flags.timeout === null ? review.timeout_seconds : wholeNumber('timeout', flags.timeout, 3600)
  const { content, base } = await contentFrom(flags, type, review, here)
  if (type === 'plan') await refuseLongPlan(content, here.config.plan.max_tokens)
  // A document touches itself, and the files that it names as a plan does.
  const named = flags.content === null || flags.content === '-' ? [] : [relative(here.root, resolve(flags.content))]
  const touched =
    type === 'code'
      ? (parseDiff(content)?.files ?? []).map(({ path }) => path)
      : [...named, ...readPlanScope(content).map(({ pattern }) => pattern)]
  const about = { type, touched, base }
  const guidelines = readGuidelines(here.root, here.checkout?.gitDirs.own ?? null, review.guidelines, about)
  const request: ReviewRequest = {
    type,
    content,
    expertise: flags.expertise === null ? null : await textIn('expertise', flags.expertise),
    context: flags.context === null ? null : await textIn('context', flags.context),
    iteration: flags.iteration === null ? previous.iteration + 1 : wholeNumber('iteration', flags.iteration, 1000),
    earlier: previous.findings,
    lastId: previous.lastId,
    changes: null,
    intent: type === 'code' ? approvedPlan(here.root) : null,
    guidelines: guidelines.text,
    replies: null,
    contested: [],
    rounds: review.max_iterations,
    settle: settleReview(previous.byChecklist),
    root: flags.toolAccess || review.tool_access ? here.root : null,
    thread: { kind: 'none' },
    fast: flags.fast,
    passTimeoutMs: passSeconds * 1000,
    totalMs: Math.max(passSeconds, review.policy.max_total_seconds) * 1000,
  }
  return { request, notices: [...guidelines.notices, ...(base === null ? [] : unseenFiles(content))] }
}

/** `base`: the commit that a change starts from; null: the content is no change. */
async function contentFrom(
  { diff, content: file }: ReviewFlags,
  type: ReviewType,
  review: Review,
  { root, checkout }: ConfigHere,
): Promise<{ content: string; base: string | null }> {
  if (diff === null) {
    if (file === null && type !== 'plan')
      throw new UserError(
        'There is nothing to review.',
        'Give --content <file>, --content - for standard input, or --diff.',
      )
    const content = await textIn('content', file ?? `${root}/${planPath}`)
    if (content.trim() !== '') return { content, base: null }
    throw new UserError('The content to review is empty.', 'Give a file that is not empty.')
  }
  if (file !== null) throw new UserError('--diff and --content cannot be combined.', 'Give one of them.')
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
  { output }: ReviewFlags,
  stoppedBy: ExitSignal | null,
  terminal: Terminal,
): void {
  if (outcome.kind === 'unavailable') {
    if (output !== null) writePasses(output, passes)
    const exitCode = stoppedBy === null ? outcome.exitCode : exitCodeOfSignal(stoppedBy)
    const kept = output !== null && isFile(asideOf(output)) ? ` The former result is in ${asideOf(output)}.` : ''
    throw new UserError(outcome.why, `${outcome.nextStep}${kept}`, exitCode)
  }
  const { result } = outcome
  const text = JSON.stringify(result, null, 2)
  terminal.out(terminal.json ? text : describeResult(result, terminal))
  if (output === null) return
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
async function previousIn(file: string | null): Promise<Previous> {
  if (file === null) return { findings: [], iteration: 0, lastId: 0, byChecklist: false }
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

const heartbeatMs = 15_000

/** On a terminal one line that is updated each second, elsewhere a line per pass and one every 15 s, for a log. */
function reviewProgress({ paint }: Terminal): { onEvent: (event: ReviewEvent) => void; end: () => void } {
  const live = process.stderr.isTTY === true && process.env.TERM !== 'dumb'
  let pass: Pass | null = null
  let [sign, startedAt, printedAt] = ['', 0, 0]
  const print = (text: string, level: 'INFO' | 'WARN' = 'INFO'): void => {
    process.stderr.write(live ? `\r\u001b[K${text}\n` : `[plan-gate] ${level}: ${text.replace(/\s*\n\s*/g, ' ')}\n`)
  }
  const tick = (): void => {
    if (pass === null) return
    const line = describeProgress(pass, performance.now() - startedAt, sign)
    if (live) process.stderr.write(`\r\u001b[K${paint('dim', clipToWidth(line, (process.stderr.columns || 80) - 1))}`)
    else if (performance.now() - printedAt > heartbeatMs) {
      printedAt = performance.now()
      print(line)
    }
  }
  const clock = setInterval(tick, live ? 1_000 : heartbeatMs).unref()
  return {
    onEvent: (event) => {
      switch (event.kind) {
        case 'pass':
          pass = event
          ;[sign, startedAt, printedAt] = ['', performance.now(), performance.now()]
          return live ? tick() : print(`${describePassOf(event)}${limits(event, startedAt)}`)
        case 'sign':
          sign = oneLine(event.text)
          return tick()
        case 'trace':
          return isDebugging() ? print(paint('dim', escapeUntrusted(event.line))) : undefined
        case 'notice':
          return print(`${live ? `${paint('yellow', 'note:')} ` : ''}${escapeUntrusted(event.text)}`, 'WARN')
      }
    },
    end: () => {
      clearInterval(clock)
      if (live && pass !== null) process.stderr.write('\r\u001b[K')
      pass = null
    },
  }
}

type Pass = Extract<ReviewEvent, { kind: 'pass' }>

const describePassOf = ({ pass, passes, does, backend }: Pass): string =>
  `pass ${pass} of ${passes}: ${passLabels[does]} (${oneLine(backend)})`

function describeProgress(pass: Pass, elapsedMs: number, sign: string): string {
  const usual = pass.expectedMs ? ` of ${roughTime(pass.expectedMs)}` : ''
  return `${describePassOf(pass)}  ${clockTime(elapsedMs)}${usual}${sign === '' ? '' : `  ${sign}`}`
}

const limits = ({ deadlineAt, forecast }: Pass, startedAt: number): string =>
  `, up to ${Math.max(0, Math.round((deadlineAt - startedAt) / 1000))} s${forecast ? `, ${formatForecast(forecast)} to the end` : ''}`

const colours = { APPROVED: 'green', CHANGES_REQUIRED: 'red', DECISION_NEEDED: 'yellow', SKIPPED: 'dim' } as const

function describeResult(result: ReviewResult, { paintOut }: Terminal): string {
  const { verdict, summary, question, findings, previous_findings: previous = [], pass_metadata: meta } = result
  return present(
    paintOut(colours[verdict], verdict),
    clean(summary),
    question ? ['', clean(question)] : [],
    findings.flatMap(({ id, severity, section, problem, evidence, fix, sources = [] }) => [
      '',
      `${paintOut('bold', `${id} ${severity}`)}  ${clean(section)}${foundBy({ sources })}`,
      `  ${clean(problem)}`,
      evidence !== '' && `  ${paintOut('dim', clean(evidence))}`,
      fix !== '' && `  → ${clean(fix)}`,
    ]),
    previous.length > 0 ? ['', 'Earlier findings:'] : [],
    previous.map(({ id, status, reason }) => `  ${id} ${status}  ${paintOut('dim', clean(reason))}`),
    meta === undefined ? [] : ['', paintOut('dim', describeMeta(result, meta))],
  ).join('\n')
}

const describeMeta = ({ verification }: ReviewResult, meta: NonNullable<ReviewResult['pass_metadata']>): string =>
  present(
    [meta.route, ...otherReaders(meta)].join(' and '),
    meta.repository === true ? 'with the repository' : 'without the repository',
    `${meta.passes_completed} ${meta.passes_completed === 1 ? 'pass' : 'passes'}`,
    `${(meta.total_duration_ms / 1000).toFixed(1)} s`,
    meta.complexity && `complexity ${meta.complexity}`,
    verification === 'skipped' && 'findings not verified',
    typeof meta.cost_usd === 'number' && formatDollars(meta.cost_usd),
  ).join(' · ')

const clean = (text: string): string => escapeUntrusted(text).replaceAll('\n', '\n  ')
