import { randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { StoreError } from '../state/files.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { sha256 } from '../system/sha256.ts'
import { type ExitSignal, interceptSignals } from '../system/signals.ts'
import { parseDecision, recordDecision } from './report-decision.ts'
import { withOwnCommand } from './terminal.ts'

/** The page of `report --serve`: on 127.0.0.1, for whoever has the token, until one decision was recorded. */

export type Serving = {
  readonly root: string
  readonly gitDirs: GitDirs
  readonly idleMs: number
  /** The page as it is now. */
  readonly render: (token: string) => { readonly page: string; readonly policy: string }
}

export type Ended =
  | { readonly kind: 'decided'; readonly words: string }
  | { readonly kind: 'idle' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'code-used-twice' }
  | { readonly kind: 'signal'; readonly signal: ExitSignal }

export type ReportServer = {
  /** With the token. */
  readonly url: string
  /** With a code that counts once, for an opener whose arguments others can read. */
  readonly codeUrl: () => string
  readonly ended: Promise<Ended>
}

/** How often it looks whether the worktree is still there. */
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
