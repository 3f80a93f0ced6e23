import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Registry = { readonly url: string; readonly requests: string[]; readonly close: () => void }

/** An npm registry on 127.0.0.1 that has these versions of plan-gate, the last one as `latest`; others it refuses. */
export async function startRegistry(versions: { readonly [version: string]: string } = {}): Promise<Registry> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requests.push(path)
    const [, version] = /^\/plan-gate-(.+)\.tgz$/.exec(path) ?? []
    const tarball = version === undefined ? undefined : versions[version]
    if (tarball !== undefined) return void response.end(readFileSync(tarball))
    if (path !== '/plan-gate' || Object.keys(versions).length === 0) return void response.writeHead(404).end('{}')
    const manifests = Object.keys(versions).map((each) => [
      each,
      { name: 'plan-gate', version: each, dist: { tarball: `${urlOf()}/plan-gate-${each}.tgz` } },
    ])
    const latest = Object.keys(versions).at(-1)
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ name: 'plan-gate', 'dist-tags': { latest }, versions: Object.fromEntries(manifests) }),
    )
  })
  const urlOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  server.requestTimeout = 20_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: urlOf(),
    requests,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
