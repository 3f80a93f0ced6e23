import { readdir, readFile } from 'node:fs/promises'
import { readConfig } from './config.ts'
import { type Database, openDatabase } from './db.ts'

/** Applies what is new, each file in a transaction of its own; `down` takes the last one back. */
export async function migrate(
  db: Database & { begin: ReturnType<typeof openDatabase>['begin'] },
  folder: string,
  down = false,
) {
  await db.query('CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY)')
  const done = new Set((await db.query('SELECT name FROM migrations')).map(({ name }) => String(name)))
  const names = (await readdir(folder)).filter((name) => name.endsWith('.up.sql')).sort()
  const last = names.filter((name) => done.has(name)).at(-1)
  if (down && last !== undefined) {
    const sql = await readFile(`${folder}/${last.replace('.up.', '.down.')}`, 'utf8')
    await db.begin(async (each) => {
      await each.query(sql)
      await each.query('DELETE FROM migrations WHERE name = $1', [last])
    })
    return
  }
  for (const name of down ? [] : names.filter((each) => !done.has(each))) {
    const sql = await readFile(`${folder}/${name}`, 'utf8')
    await db.begin(async (each) => {
      await each.query(sql)
      await each.query('INSERT INTO migrations VALUES ($1)', [name])
    })
  }
}

if (process.argv[1]?.endsWith('migrate.js')) {
  const db = openDatabase(readConfig(process.env).databaseUrl)
  await migrate(db, 'migrations', process.argv[2] === 'down')
  await db.close()
}
