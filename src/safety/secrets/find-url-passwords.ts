import type { Found } from './found.ts'
import { isPlaceholder } from './is-placeholder.ts'

/** `https://user:password@host`: the password alone. Databases are known to be given some that nobody encoded. */
export function findUrlPasswords(text: string): readonly Found[] {
  if (!address.test(text)) return []
  return forms.flatMap((form) =>
    Array.from(text.matchAll(form)).flatMap((match) => {
      const { user = '', password = '' } = match.groups ?? {}
      const start = match.index + match[0].length - password.length
      if (password === user || isPlaceholder(password)) return []
      return [{ kind: 'url-password', parts: [{ start, end: start + password.length }] }]
    }),
  )
}

const address = /:\\*\/\\*\//

const databases =
  'postgres(?:ql)?|mysql|mariadb|mongodb(?:\\+srv)?|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|cockroachdb'
const user = '(?<user>[^\\s:@/?#"\'`<>\\\\]{0,200})'
const host = '[\\w.-]{1,200}(?::\\d{1,5})?(?:[/?\\s"\'`,;)]|$)'

const forms = [
  new RegExp(`:\\\\{0,4}/\\\\{0,4}/${user}:(?<password>[^\\s/?#"'\`<>\\\\]{1,300})(?=@)`, 'g'),
  new RegExp(`(?:${databases})(?:\\+\\w{1,20})?://${user}:(?<password>[^\\s"'\`<>\\\\]{1,200})(?=@${host})`, 'gi'),
]
