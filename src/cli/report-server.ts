import { randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { isCallRunning } from '../gate/call-notes.ts'
import { approvedHash } from '../gate/plan-state.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { closeApproved } from '../gate/sandbox/approved.ts'
import { readWorkingTree, rebaselineOrForget } from '../gate/working-tree.ts'
import { compileConfig } from '../install/compile-config.ts'
import { annotatePlan } from '../plan/annotate.ts'
import { changedAfterApproval, changesWereRequested, leaveNote } from '../plan/plan-change.ts'
import { type ReviewedRevision, readRevisionLimit, readSpentTokens, reviewedRevisions } from '../plan/revisions.ts'
import { formatUserNote, lastUserNumber, readUserFindings } from '../plan/user-decisions.ts'
import { makeRedactor } from '../redact/redact.ts'
import type { PlanToDecide } from '../report/page-data.ts'
import type { UserComment } from '../review/findings.ts'
import { accepts, type FromSchema, integer, integerOrNull, listOf, objectOf, text } from '../schemas/schema.ts'
import { readApproval, readPlanBytes } from '../state/approval.ts'
import { endCycle, withLock } from '../state/cycles.ts'
import { StoreError } from '../state/files.ts'
import { appendEvent, throwIfLedgerDamaged } from '../state/ledger.ts'
import { planPath } from '../state/own-paths.ts'
import { saveAnnotated } from '../state/revisions.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { sha256 } from '../system/sha256.ts'
import { type ExitSignal, interceptSignals } from '../system/signals.ts'
import { clipEnd, splitLines } from '../text/clean.ts'
import { readOutline } from '../text/markdown.ts'
import { approveByHand, isApprovedAlready, planHasChanged } from './approve.ts'
import { withOwnCommand } from './terminal.ts'

/** The page of `report --serve`: on 127.0.0.1, for whoever has the token, until one decision was recorded. */

export type Serving = {
  readonly root: string
  readonly gitDirs: GitDirs
  readonly idleMs: number
  readonly render: (token: string) => { readonly page: string; readonly policy: string }
}

type Ended =
  | { readonly kind: 'decided'; readonly words: string }
  | { readonly kind: 'idle' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'code-used-twice' }
  | { readonly kind: 'signal'; readonly signal: ExitSignal }

export type ReportServer = {
  readonly url: string
  /** With a code that counts once, for an opener whose arguments others can read. */
  readonly codeUrl: () => string
  readonly ended: Promise<Ended>
}

const checkMs = 2_000

export async function serveReport(serving: Serving): Promise<ReportServer> {
  const token = randomBytes(32).toString('base64url')
  const codes = { open: '', used: '' }
  let lastAskedAt = Date.now()
  let end: (ended: Ended) => void = () => {}
  const over = new Promise<Ended>((resolve) => {
    end = resolve
  })
  // One decision after the other, and none after the first.
  let deciding: Promise<unknown> = Promise.resolve()
  let decided: string | null = null

  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const port = (server.address() as AddressInfo).port
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
    const { host = '', origin } = request.headers
    if (!hosts.includes(host)) return refusal(403, 'This address is not the one that plan-gate has printed.')
    const target = request.url ?? ''
    if (!URL.canParse(target, `http://${host}`)) return refusal(404, 'There is nothing at this address.')
    const url = new URL(target, `http://${host}`)
    if (request.method === 'GET' && url.pathname === '/open') {
      const code = url.searchParams.get('code') ?? ''
      if (isSame(code, codes.open)) {
        Object.assign(codes, { open: '', used: code })
        return { status: 303, headers: { location: `/?token=${token}` }, body: '' }
      }
      // Somebody else may have been faster than the browser, and have the token.
      const isUsed = isSame(code, codes.used)
      return {
        ...refusal(403, 'This link counts once, and it was used.'),
        ...(isUsed ? { last: { kind: 'code-used-twice' } } : {}),
      }
    }
    if (request.method === 'GET' && url.pathname === '/') {
      if (!isSame(url.searchParams.get('token') ?? '', token))
        return refusal(403, 'The address lacks the token that plan-gate has printed with it, or has another one.')
      lastAskedAt = Date.now()
      const { page, policy } = serving.render(token)
      return { status: 200, headers: { ...htmlHeaders, 'content-security-policy': policy }, body: page }
    }
    const hasToken = isSame(headerOf(request, 'x-plan-gate-token'), token)
    // Somebody is writing.
    if (url.pathname === '/alive' && hasToken) {
      lastAskedAt = Date.now()
      return { status: 204, headers: {}, body: '' }
    }
    if (url.pathname !== '/decision') return refusal(404, 'There is nothing at this address.')
    if (request.method !== 'POST') return refusal(405, 'A decision is sent with POST.')
    const fetchSite = request.headers['sec-fetch-site'] ?? 'same-origin'
    if (origin !== `http://${host}` || fetchSite !== 'same-origin')
      return refusal(403, 'A decision is taken in the page itself, and this came from elsewhere.')
    if (!hasToken) return refusal(403, 'The token is missing or wrong.')
    if (!/^application\/json(?:;\s*charset=utf-8)?$/i.test(request.headers['content-type'] ?? ''))
      return refusal(415, 'A decision is sent as JSON.')
    lastAskedAt = Date.now()
    const body = await readBody(request)
    if (body === null) return asJson(413, 'That is more than the page can send at once.', 'Send it in two parts.')
    const decision = parseDecision(body)
    if (decision === null) return asJson(400, 'That is not a decision.', 'Reload the page.')
    const decide = async (): Promise<Answer> => {
      if (decided !== null)
        return asJson(410, `A decision was recorded before: ${decided}`, 'For another one: plan-gate report --serve')
      try {
        decided = await recordDecision(serving.root, serving.gitDirs, decision)
        return { ...asJson(200, decided, ''), last: { kind: 'decided', words: decided } }
      } catch (error) {
        if (error instanceof UserError) return asJson(409, error.message, error.nextStep)
        if (error instanceof StoreError)
          return asJson(500, error.message.replace(` ${error.next}`, ''), error.next || 'Try again.')
        return asJson(500, error instanceof Error ? error.message : String(error), 'Run `plan-gate doctor`.')
      }
    }
    const mine = deciding.then(decide)
    deciding = mine
    return mine
  }

  const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 10_000, headersTimeout: 5_000 })
  server.maxConnections = 50
  server.on('request', (request, response) => {
    answer(request)
      .catch((error) => refusal(500, error instanceof UserError ? `${error.message} ${error.nextStep}` : String(error)))
      .then((answered) => send(response, answered, () => answered.last !== undefined && end(answered.last)))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const release = interceptSignals((signal) => end({ kind: 'signal', signal }))
  const watch = setInterval(
    () => {
      if (!existsSync(join(serving.root, '.git'))) end({ kind: 'gone' })
      else if (Date.now() - lastAskedAt >= serving.idleMs) end({ kind: 'idle' })
    },
    Math.min(checkMs, serving.idleMs),
  )
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${base}/?token=${token}`,
    codeUrl: () => {
      codes.open = randomBytes(32).toString('base64url')
      return `${base}/open?code=${codes.open}`
    },
    ended: over.then(async (ended) => {
      clearInterval(watch)
      release()
      // Whatever is being written is written, or refused.
      await deciding
      server.close()
      server.closeAllConnections()
      return ended
    }),
  }
}

type Answer = {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** Ends the server once it is sent. */
  readonly last?: Ended
}

const htmlHeaders = { 'content-type': 'text/html; charset=utf-8' } as const

const refusal = (status: number, why: string): Answer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: withOwnCommand(
    `plan-gate: ${why}\nOpen the address that \`plan-gate report --serve\` has printed, or start it again.\n`,
  ),
})

const asJson = (status: number, words: string, next: string): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify({ ok: status === 200, words: withOwnCommand(words), next: withOwnCommand(next) }),
})

/** No CORS header: no other page may read an answer. */
function send(response: ServerResponse, { status, headers, body }: Answer, sent: () => void): void {
  response.on('close', sent)
  response.writeHead(status, {
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    connection: 'close',
    ...headers,
  })
  response.end(body)
}

/** In constant time; an empty one is the same as nothing. */
const isSame = (given: string, wanted: string): boolean =>
  wanted !== '' && timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(wanted)))

const headerOf = (request: IncomingMessage, name: string): string => {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

const maxBodyBytes = 256 * 1024

/** Null: it is too large. Undefined: it is not JSON. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    // Read to its end all the same, or the answer would not arrive.
    if (size <= maxBodyBytes) chunks.push(chunk)
  }
  if (size > maxBodyBytes) return null
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) ?? undefined
  } catch {
    return undefined
  }
}

/** The texts that the page shows, line by line and without secrets. */
export function readPlanToDecide(root: string): PlanToDecide {
  const redact = redactorFor(root)
  const plan = readPlanBytes(root)
  const last = reviewedRevisions(root).at(-1)
  if (plan.kind === 'read' && plan.bytes.length > maxPlanToShow)
    throw new UserError(`${planPath} is larger than a megabyte, so it is not shown.`, 'Have it shortened first.')
  const now = plan.kind === 'read' ? plan.bytes.toString('utf8') : null
  return {
    hash: plan.kind === 'read' ? sha256(plan.bytes) : null,
    isApproved: readPlanState(root).kind === 'approved',
    now: linesOf(redact(now ?? '')),
    reviewed:
      last === undefined || last.plan === now ? null : { revision: last.revision, lines: linesOf(redact(last.plan)) },
  }
}

/** A browser draws each line of it. */
const maxPlanToShow = 1_000_000

const linesOf = (text: string): readonly string[] => splitLines(text).map((line) => line.replace(/\r?\n$/, ''))

/** Throws where the secrets cannot be found: nothing is shown or recorded then. */
function redactorFor(root: string): (text: string) => string {
  const redactor = makeRedactor(compileConfig(root).config.review.redaction.patterns)
  return (content) => {
    const clean = redactor.text(content)
    if (clean.kind === 'redacted') return clean.text
    throw new UserError(
      `Secrets cannot be redacted (${clean.why}), so nothing is shown or recorded.`,
      'Fix review.redaction.patterns in plan-gate.yaml, then reload the page.',
    )
  }
}

/** `of`: which of the two texts; `lost`: a line that is no more, of which only the quotation is left. */
const lineComment = objectOf({ of: { enum: ['now', 'reviewed', 'lost'] }, line: integer, quote: text, text })

/** `revision`: the one whose lines were shown beside the plan. `comment`: on the plan as a whole; why it is approved. */
const decisionSchema = objectOf({
  decision: { enum: ['approve', 'request-changes'] },
  plan_hash: text,
  revision: integerOrNull,
  comment: text,
  comments: listOf(lineComment),
})

type Decision = FromSchema<typeof decisionSchema>

const parseDecision = (value: unknown): Decision | null => (accepts(decisionSchema, value) ? value : null)

/** In words, for the page. Refusals are `UserError`s. Whatever was refused has changed nothing. */
async function recordDecision(root: string, gitDirs: GitDirs, decision: Decision): Promise<string> {
  const decide = async (): Promise<string> => {
    // Of any session: a call can reach this server, and the user's own terminal is another way.
    if (isCallRunning(gitDirs.own)) throw callIsRunning(decision)
    const shown = readPlanToDecide(root)
    if (shown.hash === null) throw new UserError(`There is no ${planPath} any more.`, 'Have it written first.')
    if (shown.hash !== decision.plan_hash || (shown.reviewed?.revision ?? null) !== decision.revision)
      throw planHasChanged()
    return decision.decision === 'approve'
      ? approve(root, gitDirs, decision)
      : requestChanges(root, gitDirs, decision, shown)
  }
  const held = await withLock(root, decide, { waitMs: 6_000 })
  if (held.kind === 'done') return held.value
  throw new UserError(
    'A review of the plan is running, so nothing was recorded.',
    'Wait for its end (plan-gate status), then reload the page. What you have written stays.',
  )
}

const callIsRunning = ({ decision }: Decision): UserError =>
  new UserError(
    'A tool call of Claude Code is running, or was interrupted, so nothing was recorded.',
    decision === 'approve'
      ? 'Try again when it has ended, or in your terminal: plan-gate approve --force --reason "…"'
      : 'Try again when it has ended. What you have written stays.',
  )

async function approve(root: string, gitDirs: GitDirs, decision: Decision): Promise<string> {
  if (readPlanState(root).kind === 'approved') throw isApprovedAlready()
  if (decision.comments.length > 0)
    throw new UserError(
      'An approval carries no comments on lines: nobody would have to settle them.',
      'Remove them, or request changes.',
    )
  const reason = redactorFor(root)(clipEnd(decision.comment.trim(), 3_000))
  await approveByHand(root, gitDirs, reason || 'approved in the report', undefined, decision.plan_hash)
  return `${planPath} is approved by you: the gate is open until it changes. Claude hears of it with your next message.`
}

async function requestChanges(
  root: string,
  gitDirs: GitDirs,
  decision: Decision,
  shown: PlanToDecide,
): Promise<string> {
  throwIfLedgerDamaged(root, 'so nothing was recorded')
  const findings = toComments(root, decision, shown)
  const { plan } = compileConfig(root).config
  const hadApproval = readPlanState(root).kind === 'approved'
  const approved = approvedHash(readApproval(root))
  // Later, a hook would end this cycle, and the comments with it.
  if (approved !== null) {
    rebaselineOrForget(gitDirs.own, readWorkingTree(root, gitDirs))
    await endCycle(root, hadApproval ? changesWereRequested : changedAfterApproval)
    closeApproved(gitDirs.own)
  }
  const reviewed = reviewedRevisions(root)
  const last = reviewed.at(-1)
  await appendEvent(root, {
    type: 'changes-requested',
    plan_hash: decision.plan_hash,
    revision: last?.revision ?? 0,
    findings,
  })
  const { revisions, limit } = readRevisionLimit(root, plan.max_revisions)
  // Who asks for changes wants them reviewed.
  if (revisions >= limit || readSpentTokens(root, reviewed, plan.cycle_tokens ?? null) !== null)
    await appendEvent(root, { type: 'continued', revision: revisions })
  leaveNote(root, formatUserNote(findings, hadApproval))
  if (last !== undefined) annotateAgain(root, last)
  const ids = findings.map(({ id }) => id).join(', ')
  const ended = hadApproval ? ', and the approval has ended: the gate is closed' : ''
  const [them, settled] = findings.length === 1 ? ['it', 'it is'] : ['them', 'they are']
  return `Recorded as ${ids}${ended}. Claude gets ${them} with your next message, and the plan is held until ${settled} settled.`
}

function annotateAgain(root: string, { revision, plan, result }: ReviewedRevision): void {
  const known = new Set(result.findings.map(({ id }) => id))
  const users = readUserFindings(root).flatMap(({ finding }) => (known.has(finding.id) ? [] : [finding]))
  const findings = [...result.findings, ...users]
  const date = new Date().toISOString()
  saveAnnotated(root, revision, annotatePlan(plan, { ...result, findings, revision, date }))
}

/** A line of the ledger that is longer would lose them. */
const maxBytes = 28_000
const maxComments = 100

function toComments(root: string, decision: Decision, shown: PlanToDecide): readonly UserComment[] {
  const redact = redactorFor(root)
  const first = lastUserNumber(root) + 1
  const whole = { section: 'Overall', place: '', quote: '', text: decision.comment }
  const comments = [whole, ...decision.comments.map((comment) => placed(comment, shown))]
    .map((comment) => ({ ...comment, text: redact(comment.text.replace(/\r\n?/g, '\n').trim()) }))
    .filter(({ text }) => text !== '')
    .map((comment, index) => ({ id: `U${first + index}`, ...comment }))
  if (comments.length === 0)
    throw new UserError('There is no comment yet.', 'Say what has to change: on a line, or on the plan as a whole.')
  if (comments.length > maxComments || Buffer.byteLength(JSON.stringify(comments)) > maxBytes)
    throw new UserError(
      `Too much at once: at most ${maxComments} comments with about 25,000 characters. Nothing was recorded.`,
      'Keep some of it elsewhere, send the rest, and start `plan-gate report --serve` again for the second part.',
    )
  return comments
}

/** The quotation is ours: what the page sends of it counts only where the line is no more. */
function placed(
  { of, line, quote, text }: FromSchema<typeof lineComment>,
  shown: PlanToDecide,
): Omit<UserComment, 'id'> {
  if (of === 'lost') return { section: 'Overall', place: '', quote: clipEnd(quote.trim(), maxQuote), text }
  const lines = of === 'now' ? shown.now : (shown.reviewed?.lines ?? [])
  const found = lines[line - 1]
  if (found === undefined) throw planHasChanged()
  const section = readOutline(lines.join('\n')).sections.findLast(({ from, to }) => from <= line && line <= to)
  return {
    section: clipEnd(section?.title ?? '', 200) || 'Overall',
    place: of === 'now' ? `${planPath}:${line}` : `revision ${shown.reviewed?.revision}, line ${line}`,
    quote: clipEnd(found.trim(), maxQuote),
    text,
  }
}

const maxQuote = 200
