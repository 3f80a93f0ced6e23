import pg from 'pg'

export type Row = { readonly [column: string]: unknown }
export type Database = { readonly query: (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]> }

/** At most ten connections, shared by all requests of an instance. */
export function openDatabase(url: string): Database & { close: () => Promise<void>; begin: Begin } {
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  return {
    query: async (sql, values = []) => (await pool.query(sql, [...values])).rows,
    close: () => pool.end(),
    begin: (work) => transaction(pool, work),
  }
}

export type Begin = <T>(work: (db: Database) => Promise<T>) => Promise<T>

async function transaction<T>(pool: pg.Pool, work: (db: Database) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await work({ query: async (sql, values = []) => (await client.query(sql, [...values])).rows })
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}
