/** A skill, a custom command or an agent. `names`: what it goes by, whatever its head says. */
export type LoadedText = {
  readonly names: readonly string[]
  /** null: it cannot be read here, and perhaps there. */
  readonly text: string | null
}

/** Whether Claude Code could mean this one by such a name. */
export function mayBeCalled(loaded: LoadedText, name: string): boolean {
  const { known, isClear } = namesOf(loaded)
  return !isClear || known.includes(lastPart(name))
}

/** Whether the skills that its head names, if it is an agent, are loaded with it. */
export const takesSkills = ({ text }: LoadedText): boolean => text === null || hasKey(headOf(text), 'skills')

/** Whether this agent, which takes skills along, could mean that one. */
export function takesAlong(agent: LoadedText, skill: LoadedText): boolean {
  const head = headOf(agent.text ?? '').toLowerCase()
  const { known, isClear } = namesOf(skill)
  // Escapes, anchors and aliases can spell a name without writing it.
  return !isClear || agent.text === null || /[\\&*]/.test(head) || known.some((name) => head.includes(name))
}

/** The commands that run as it is loaded, or in brackets why nobody can say which do. */
export const runsAsLoaded = ({ text }: LoadedText): readonly string[] =>
  text === null ? ['(its text cannot be read)'] : [...commandsIn(text), ...hooksIn(text)]

/** Hooks in the head run commands of their own, at later calls. */
export const hooksOf = ({ text }: LoadedText): readonly string[] =>
  text === null ? ['(its text cannot be read)'] : hooksIn(text)

/** `plugin:skill` and `folder/skill` are that skill of several. */
const lastPart = (name: string): string => (name.split(/[:/]/).at(-1) ?? '').trim().toLowerCase()

/** A head is YAML, which says the same in many ways: only its plain form is read, and any other may name it anything. */
function namesOf({ names, text }: LoadedText): { known: readonly string[]; isClear: boolean } {
  if (text === null) return { known: [], isClear: false }
  const head = headOf(text)
  const [line = '', label = ''] = /^name:[ \t]*["']?([\w :./-]*?)["']?[ \t]*\r?$/m.exec(head) ?? []
  return {
    known: [...names, label].map(lastPart).filter((name) => name !== ''),
    isClear: !hasKey(head.replace(line, ''), 'name'),
  }
}

/** `!` before a code span, or after the fence of a code block, wherever in a line. */
const commandsIn = (text: string): readonly string[] =>
  [...text.matchAll(/!`([^`]+)`|```+[ \t]*!\s*([\s\S]*?)```/g)].map(([, span, block]) => (span ?? block ?? '').trim())

const hooksIn = (text: string): readonly string[] => (hasKey(headOf(text), 'hooks') ? ['(its head sets hooks)'] : [])

/** A little more than Claude Code takes for one. */
const headOf = (text: string): string => /^[\s\ufeff]*---[^\n]*\n([\s\S]*?)(?:\n[ \t]*---|$)/.exec(text)?.[1] ?? ''

/** With a backslash a key can be spelt in another way. */
const hasKey = (head: string, key: 'name' | 'skills' | 'hooks'): boolean =>
  head.includes('\\') || new RegExp(`(?<![\\w-])${key}["']?\\s*:`, 'i').test(head)
