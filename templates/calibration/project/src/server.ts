import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { readConfig } from './config.ts'
import { openDatabase } from './db.ts'
import { handle } from './http.ts'

const config = readConfig(process.env)
const db = openDatabase(config.databaseUrl)

const server = createServer(async (request, response) => {
  try {
    const body = parse(await text(request))
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const answer = await handle(
      { config, db },
      { method: request.method ?? '', path: request.url ?? '', headers, body },
    )
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  } catch (error) {
    console.error(error)
    response.writeHead(500).end()
  }
})
server.listen(config.port)

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
