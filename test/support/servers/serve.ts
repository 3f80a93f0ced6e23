import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Served = { readonly host: string; readonly close: () => Promise<void> }

/** On a port of the system's choice, on 127.0.0.1, until it is closed; at the latest when its lifetime is over. */
export async function serve(server: Server, lifetimeMs: number): Promise<Served> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const end = (): void => {
    server.close()
    server.closeAllConnections()
  }
  const lifetime = setTimeout(end, lifetimeMs).unref()
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      clearTimeout(lifetime)
      if (!server.listening) return
      const closed = once(server, 'close')
      end()
      await closed
    },
  }
}
