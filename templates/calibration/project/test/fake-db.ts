import type { Database, Row } from '../src/db.ts'

/** Answers each query with the next of these rows, and keeps what it was asked. */
export function fakeDb(...answers: readonly (readonly Row[])[]) {
  const asked: string[] = []
  const db: Database = {
    query: async (sql, values = []) => {
      asked.push(`${sql} ${JSON.stringify(values)}`)
      return answers[asked.length - 1] ?? []
    },
  }
  return {
    ...db,
    asked,
    begin: <T>(work: (each: Database) => Promise<T>): Promise<T> => work(db),
    close: async () => {},
  }
}
