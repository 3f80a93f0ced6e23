import { readFileSync } from 'node:fs'
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { rootCertificates } from 'node:tls'

export type HttpReply =
  | { readonly kind: 'replied'; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }
  | { readonly kind: 'too-big' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'unreachable'; readonly code: string }
  /** By the signal. */
  | { readonly kind: 'aborted' }

type Post = {
  readonly url: URL
  /** The user's: whose certificates are trusted. */
  readonly env: NodeJS.ProcessEnv
  readonly headers: { readonly [name: string]: string }
  readonly body: object
  readonly maxBytes: number
  readonly signal: AbortSignal
  readonly onHeaders: (status: number) => void
}

/**
 * One request, one reply, no redirects. By node:https and not by `fetch`: without streaming the headers come when the
 * model has finished, and `fetch` gives up on headers after 300 s, which only a dispatcher from a package could change.
 * Here the caller's signal is the only deadline.
 */
export function postJson({ url, env, headers, body, maxBytes, signal, onHeaders }: Post): Promise<HttpReply> {
  const bytes = Buffer.from(JSON.stringify(body))
  return new Promise((resolve) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    // No keep-alive pool: a connection that was idle between two passes may be dead.
    const request = send(url, {
      method: 'POST',
      agent: false,
      signal,
      headers: headersFor(headers, bytes.length),
      ...trustOf(env),
    })
    // Minutes of silence are normal, and routers drop idle connections.
    request.on('socket', (socket) => socket.setKeepAlive(true, 30_000))
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve(signal.aborted ? { kind: 'aborted' } : { kind: 'unreachable', code: error.code ?? error.message }),
    )
    request.on('response', (response) => {
      onHeaders(response.statusCode ?? 0)
      readBody(response, maxBytes, signal, (reply) => {
        resolve(reply)
        request.destroy()
      })
    })
    request.end(bytes)
  })
}

/**
 * Node itself takes NODE_EXTRA_CA_CERTS as it starts, and NODE_TLS_REJECT_UNAUTHORIZED from its own environment, which
 * the settings of a project reach; hooks start without the former. Proxies are for agents, and there is none.
 */
function trustOf(env: NodeJS.ProcessEnv): { ca?: string[]; rejectUnauthorized: boolean } {
  const rejectUnauthorized = env.NODE_TLS_REJECT_UNAUTHORIZED !== '0'
  const file = env.NODE_EXTRA_CA_CERTS ?? ''
  if (file === (process.env.NODE_EXTRA_CA_CERTS ?? '')) return { rejectUnauthorized }
  return { ca: [...rootCertificates, ...certificatesIn(file)], rejectUnauthorized }
}

/** A file that cannot be read is ignored, as node does. */
function certificatesIn(file: string): string[] {
  if (file === '') return []
  try {
    return [readFileSync(file, 'utf8')]
  } catch {
    return []
  }
}

const headersFor = (headers: Post['headers'], length: number): Post['headers'] => ({
  ...headers,
  accept: 'application/json',
  'accept-encoding': 'identity',
  'content-type': 'application/json',
  'content-length': String(length),
})

function readBody(
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
  resolve: (reply: HttpReply) => void,
): void {
  const pieces: Buffer[] = []
  let length = 0
  const end = (): void => {
    const { statusCode = 0, headers } = response
    if (signal.aborted) resolve({ kind: 'aborted' })
    else if (!response.complete) resolve({ kind: 'cut' })
    else resolve({ kind: 'replied', status: statusCode, headers, body: Buffer.concat(pieces).toString('utf8') })
  }
  response.on('data', (piece: Buffer) => {
    length += piece.length
    if (length > maxBytes) resolve({ kind: 'too-big' })
    else pieces.push(piece)
  })
  response.on('error', end)
  response.on('close', end)
}

export type StopCause = 'deadline' | 'cancelled'

/**
 * One signal for both the caller's abort and the deadline. Not `AbortSignal.any`, whose result could be collected
 * before it fired.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  cancelled: AbortSignal,
  act: (signal: AbortSignal, stoppedBy: () => StopCause | null) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  let cause: StopCause | null = null
  const stop = (by: StopCause): void => {
    cause ??= by
    controller.abort()
  }
  const cancel = (): void => stop('cancelled')
  const timer = setTimeout(() => stop('deadline'), timeoutMs)
  cancelled.addEventListener('abort', cancel, { once: true })
  if (cancelled.aborted) cancel()
  try {
    return await act(controller.signal, () => cause)
  } finally {
    clearTimeout(timer)
    cancelled.removeEventListener('abort', cancel)
  }
}
