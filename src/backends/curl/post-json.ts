import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

export type HttpReply =
  | { readonly kind: 'replied'; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }
  | { readonly kind: 'too-big' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'unreachable'; readonly code: string }
  /** By the signal. */
  | { readonly kind: 'stopped' }

export type Post = {
  readonly url: URL
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
export function postJson({ url, headers, body, maxBytes, signal, onHeaders }: Post): Promise<HttpReply> {
  const bytes = Buffer.from(JSON.stringify(body))
  return new Promise((resolve) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    // A connection of its own: one that was idle between two passes may be dead without anybody knowing.
    const request = send(url, { method: 'POST', agent: false, signal, headers: headersFor(headers, bytes.length) })
    // Minutes of silence are normal, and routers forget about a connection that says nothing.
    request.on('socket', (socket) => socket.setKeepAlive(true, 30_000))
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve(signal.aborted ? { kind: 'stopped' } : { kind: 'unreachable', code: error.code ?? error.message }),
    )
    request.on('response', (response) => {
      onHeaders(response.statusCode ?? 0)
      collect(response, maxBytes, signal, (reply) => {
        resolve(reply)
        request.destroy()
      })
    })
    request.end(bytes)
  })
}

const headersFor = (headers: Post['headers'], length: number): Post['headers'] => ({
  ...headers,
  accept: 'application/json',
  'accept-encoding': 'identity',
  'content-type': 'application/json',
  'content-length': String(length),
})

function collect(
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
  settle: (reply: HttpReply) => void,
): void {
  const pieces: Buffer[] = []
  let length = 0
  const end = (): void => {
    if (signal.aborted) settle({ kind: 'stopped' })
    else if (!response.complete) settle({ kind: 'cut' })
    else settle({ kind: 'replied', status: response.statusCode ?? 0, headers: response.headers, body: text() })
  }
  const text = (): string => Buffer.concat(pieces).toString('utf8')
  response.on('data', (piece: Buffer) => {
    length += piece.length
    if (length > maxBytes) settle({ kind: 'too-big' })
    else pieces.push(piece)
  })
  response.on('error', end)
  response.on('close', end)
}
