import type { AndOr, Command, PipelineNode, Statement } from 'unbash'
import { type Refusal, refuse } from './refusal.ts'

/** The operator that joins a command to the one before it; none for the first. */
type Joint = '' | '|' | '&&' | '||' | ';'
export type Joined = { readonly kind: 'joined'; readonly command: Command; readonly joint: Joint }

/** The simple commands of a statement, in the order of the line. */
export function joinStatement(statement: Statement, index: number, source: string): (Joined | Refusal)[] {
  if (statement.background === true)
    return [
      refuse(
        'background',
        source.slice(statement.pos, statement.end),
        'runs in the background, unseen',
        'Leave the & out. To run two commands, join them by &&.',
      ),
    ]
  return joinNode(statement.command, index === 0 ? '' : ';', source)
}

function joinNode(node: PipelineNode | AndOr, joint: Joint, source: string): (Joined | Refusal)[] {
  switch (node.type) {
    case 'Command':
      return [{ kind: 'joined', command: node, joint }]
    case 'AndOr':
      return node.commands.flatMap((next, index) => joinNode(next, node.operators[index - 1] ?? joint, source))
    case 'Pipeline':
      if (node.prefixes.length > 0) return [keyword(node, 'begins with ! or time', source)]
      return node.commands.flatMap((next, index) => {
        const operator = node.operators[index - 1]
        return operator === '|&' ? [pipesErrors(next, source)] : joinNode(next, operator ?? joint, source)
      })
    case 'Subshell':
    case 'BraceGroup':
    case 'Redirected':
      return [keyword(node, 'groups commands', source)]
    case 'If':
    case 'For':
    case 'ArithmeticFor':
    case 'Select':
    case 'While':
    case 'Case':
    case 'TestCommand':
    case 'ArithmeticCommand':
    case 'Function':
    case 'Coproc':
      return [keyword(node, 'is shell programming', source)]
  }
}

type Positioned = { readonly pos: number; readonly end: number }

const keyword = (node: Positioned, why: string, source: string): Refusal =>
  refuse(
    'keyword',
    source.slice(node.pos, node.end),
    `${why}; the gate judges plain commands`,
    'Run the commands one by one, or join them by |, && or ;.',
  )

const pipesErrors = (node: Positioned, source: string): Refusal =>
  refuse('redirection', `|& ${source.slice(node.pos, node.end)}`, 'is joined by |&', 'Write 2>&1 | instead.')
