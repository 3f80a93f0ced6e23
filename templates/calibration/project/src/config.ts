export type Config = {
  readonly databaseUrl: string
  readonly paymentUrl: string
  readonly paymentKey: string
  readonly mailUrl: string
  readonly port: number
}

/** Throws for a variable that is missing, so that an instance does not start half configured. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  return {
    databaseUrl: required(env, 'DATABASE_URL'),
    paymentUrl: required(env, 'PAYMENT_URL'),
    paymentKey: required(env, 'PAYMENT_KEY'),
    mailUrl: required(env, 'MAIL_URL'),
    port: Number(env.PORT ?? 8080),
  }
}

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name]
  if (value === undefined || value === '') throw new Error(`${name} is not set`)
  return value
}
