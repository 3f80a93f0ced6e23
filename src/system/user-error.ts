/** Something a person can mend: what is wrong, and the next step. Printed without a stack; the exit code is 2. */
export class UserError extends Error {
  readonly nextStep: string
  readonly exitCode: number
  constructor(message: string, nextStep: string, exitCode = 2) {
    super(message)
    this.name = 'UserError'
    this.nextStep = nextStep
    this.exitCode = exitCode
  }
}
