import { hasRole, userOf } from './auth.ts'
import type { Config } from './config.ts'
import type { openDatabase } from './db.ts'
import { findOrder, listOrders, placeOrder, setStatus } from './orders.ts'
import { charge } from './payments.ts'
import { parseLines } from './requests.ts'

type Request = {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: unknown
}
type Response = { readonly status: number; readonly body: unknown }
type Shop = { readonly config: Config; readonly db: ReturnType<typeof openDatabase> }

/** One function for all routes, so that the tests need no socket. */
export async function handle({ config, db }: Shop, request: Request): Promise<Response> {
  const user = userOf(request.headers)
  const [, resource, id, action] = request.path.split('/')
  if (request.path === '/health') return { status: 200, body: { ok: true } }
  if (user === null || !hasRole(user, 'customer')) return { status: 401, body: { error: 'log in first' } }
  if (resource !== 'orders') return { status: 404, body: { error: 'there is no such page' } }

  if (request.method === 'GET' && id === undefined) {
    const orders = await listOrders(db, hasRole(user, 'clerk') ? null : user.id)
    return { status: 200, body: orders }
  }
  if (request.method === 'POST' && id === undefined) {
    const lines = parseLines(request.body)
    if (lines === null) return { status: 400, body: { error: 'the lines of the order are not valid' } }
    return { status: 201, body: await placeOrder(db.begin, user.id, lines) }
  }
  const order = id === undefined ? null : await findOrder(db, id)
  if (order === null || (order.customerId !== user.id && !hasRole(user, 'clerk')))
    return { status: 404, body: { error: 'there is no such order' } }
  if (request.method === 'GET') return { status: 200, body: order }
  if (request.method === 'POST' && action === 'pay') {
    const charged = await charge(config.paymentUrl, config.paymentKey, order)
    if (charged.kind === 'declined') return { status: 402, body: { error: 'the payment was declined' } }
    if (charged.kind === 'unknown') return { status: 503, body: { error: 'try again' } }
    await setStatus(db, order.id, 'open', 'paid')
    return { status: 200, body: { ...order, status: 'paid' } }
  }
  if (request.method === 'POST' && action === 'cancel') {
    const isCancelled = await setStatus(db, order.id, 'open', 'cancelled')
    return isCancelled
      ? { status: 200, body: { ...order, status: 'cancelled' } }
      : { status: 409, body: { error: `the order is ${order.status}` } }
  }
  return { status: 405, body: { error: 'not allowed' } }
}
