import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { project as root } from '../support/project.ts'

/** Who may import whom. A room that is not named here does not exist. */
const mayImport: { readonly [room: string]: readonly string[] } = {
  schemas: [],
  safety: ['schemas'],
  routes: ['schemas'],
  gate: ['schemas'],
  protocol: ['schemas'],
  review: ['schemas', 'safety', 'routes'],
  backends: ['schemas', 'safety'],
  store: ['schemas', 'safety'],
  system: ['schemas', 'safety'],
  plan: ['schemas', 'safety', 'routes', 'review'],
  reflect: ['schemas', 'safety', 'routes', 'review'],
  report: ['schemas', 'safety', 'plan', 'review'],
  hooks: ['*'],
  cli: ['*'],
  bootstrap: ['*'],
  build: ['*'],
}

/** No file system, no processes, no clock, no network: what these rooms decide depends on their arguments alone. */
const pure = ['gate', 'protocol', 'plan', 'report', 'routes']
const effects = /^(node:|fs$|child_process$|execa$|proper-lockfile$)/

type Import = { file: string; room: string; to: string }

const sources = ['src', 'bootstrap'].flatMap((dir) =>
  readdirSync(join(root, dir), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/')),
)

const imports: Import[] = sources
  .filter((file) => !file.includes('/generated/'))
  .flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return [...text.matchAll(/(?:from\s+|import\s+|import\()'([^']+)'/g)].map(([, to = '']) => ({
      file,
      room: roomOf(file),
      to,
    }))
  })

function roomOf(file: string): string {
  const [top = '', second = ''] = file.split('/')
  return top === 'src' ? second : top
}

const targetRoom = ({ file, to }: Import): string | null =>
  to.startsWith('.') ? roomOf(relative(root, join(root, dirname(file), to)).replaceAll('\\', '/')) : null

describe('the house', () => {
  it('has the rooms of the design and no others', () => {
    expect([...new Set(sources.map(roomOf))].filter((room) => !(room in mayImport))).toEqual([])
  })

  it('is read completely: the scan finds the imports of a file it knows', () => {
    expect(imports.filter(({ file }) => file === 'src/gate/decide-tool-call.ts').map(({ to }) => to)).toContain(
      './place-of.ts',
    )
    expect(imports.length).toBeGreaterThan(200)
  })

  it('lets imports go one way', () => {
    const wrong = imports.filter((found) => {
      const room = targetRoom(found)
      const allowed = mayImport[found.room] ?? []
      return room !== null && room !== found.room && !allowed.includes('*') && !allowed.includes(room)
    })
    expect(wrong.map(({ file, to }) => `${file} → ${to}`)).toEqual([])
  })

  it('lets nobody import the rooms that wire everything, but one another', () => {
    const wiring = ['hooks', 'cli', 'bootstrap', 'build']
    const wrong = imports.filter((found) => wiring.includes(targetRoom(found) ?? '') && !wiring.includes(found.room))
    expect(wrong).toEqual([])
  })

  it('keeps the pure rooms pure', () => {
    const wrong = imports.filter(({ room, to }) => pure.includes(room) && effects.test(to))
    const clocks = sources.filter(
      (file) =>
        pure.includes(roomOf(file)) &&
        /(?<![-\w])(Date\.now|new Date\(\)|Math\.random|process\.\w)/.test(readFileSync(join(root, file), 'utf8')),
    )
    expect({ wrong, clocks }).toEqual({ wrong: [], clocks: [] })
  })

  it('has no barrels, no utils and no classes but errors', () => {
    const misnamed = sources.filter((file) => /(^|\/)(index|utils?|helpers?|common|misc)\.ts$/.test(file))
    const classes = sources.flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/^(?:export )?class (\w+)(?: extends (\w+))?/gm)]
        .filter(([, , parent]) => parent !== 'Error')
        .map(([line]) => `${file}: ${line}`),
    )
    expect({ misnamed, classes }).toEqual({ misnamed: [], classes: [] })
  })
})
