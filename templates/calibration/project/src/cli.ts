import { readConfig } from './config.ts'
import { openDatabase } from './db.ts'
import { exportOrders } from './export.ts'

const [command, file = 'orders.csv'] = process.argv.slice(2)
if (command !== 'export') {
  console.error('usage: shop export [file]')
  process.exit(2)
}
const db = openDatabase(readConfig(process.env).databaseUrl)
try {
  console.log(`${await exportOrders(db, file)} orders`)
} finally {
  await db.close()
}
