export type Role = 'customer' | 'clerk' | 'admin'
export type User = { readonly id: string; readonly role: Role }

const ranks: { readonly [role in Role]: number } = { customer: 0, clerk: 1, admin: 2 }

/** The load balancer has checked the token and sets these headers; it removes those that a client sends. */
export function userOf(headers: { readonly [name: string]: string | undefined }): User | null {
  const [id, role] = [headers['x-user-id'], headers['x-user-role']]
  if (id === undefined || (role !== 'customer' && role !== 'clerk' && role !== 'admin')) return null
  return { id, role }
}

export const hasRole = (user: User, least: Role): boolean => ranks[user.role] >= ranks[least]
