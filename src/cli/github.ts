import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import type { VerifyOutput } from '../schemas/output.ts'
import { oneLine } from './terminal.ts'

/**
 * GitHub's runner obeys lines like `::set-output …` in what a step prints, and names of files could be such lines: it is
 * told not to until the process ends. The annotations come after that.
 */
export function openGitHub(): GitHub {
  const token = randomUUID()
  const annotations: string[] = []
  process.stdout.write(`::stop-commands::${token}\n`)
  process.once('exit', () => void process.stdout.write([`::${token}::`, ...annotations, ''].join('\n')))
  const outputs = process.env.GITHUB_OUTPUT ?? ''
  return {
    tell: ({ holds, checks, plan_hash = '', approver = '', out_of_scope }, isStrict) => {
      const values = {
        holds,
        approver: holds ? oneLine(approver) : '',
        'plan-hash': plan_hash,
        unplanned: out_of_scope?.length ?? '',
      }
      const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`)
      if (outputs !== '') appendFileSync(outputs, lines.join(''))
      for (const { name, holds, detail, next_step: next = '' } of checks)
        if (!holds) annotations.push(annotation('error', { title: `plan-gate: ${name}` }, `${detail}\n→ ${next}`))
      for (const file of (out_of_scope ?? []).slice(0, maxAnnotations)) {
        const level = isStrict ? 'error' : 'warning'
        annotations.push(annotation(level, { file, title: 'plan-gate' }, 'The plan does not name this file.'))
      }
    },
    tellProblem: (message, next) => {
      annotations.push(annotation('error', { title: 'plan-gate' }, `${message}\n→ ${next}`))
    },
  }
}

type GitHub = {
  readonly tell: (output: VerifyOutput, isStrict: boolean) => void
  readonly tellProblem: (message: string, next: string) => void
}

/** GitHub shows no more of a step. */
const maxAnnotations = 10

function annotation(level: 'error' | 'warning', properties: { readonly [name: string]: string }, text: string): string {
  const named = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(value)}`)
  return `::${level} ${named.join(',')}::${escapeMessage(text.split('\n').map(oneLine).join('\n'))}`
}

const escapeMessage = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const escapeProperty = (text: string): string => escapeMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
