/** Copies of a plan that are as good as it is: what a reviewer holds against one of them, it holds against it for nothing. */
import type { ControlName } from './defect.ts'
import { type Block, editBlocks, readPlan } from './plan-blocks.ts'
import type { Random } from './random.ts'

/** null: the plan has no place for it. */
export function makePlanControl(text: string, name: ControlName, random: Random): string | null {
  switch (name) {
    case 'unchanged':
      return text
    case 'paraphrased':
      return paraphrase(text, random)
    case 'edited':
      return edit(text)
  }
}

/** Only where both mean the same in any sentence. */
const synonyms: readonly (readonly [RegExp, string])[] = [
  [/\bdoes not\b/g, "doesn't"],
  [/\bdo not\b/g, "don't"],
  [/\bbecause of\b/g, 'owing to'],
  [/\bin place of\b/g, 'instead of'],
  [/\btherefore\b/g, 'so'],
  [/\bfor example\b/g, 'for instance'],
  [/\bin order to\b/g, 'to'],
  [/\balso where\b/g, 'even where'],
  [/\bnevertheless\b/g, 'all the same'],
  [/\bas well\b/g, 'too'],
  [/\bwithin\b/g, 'inside of'],
  [/\bsuch as\b/g, 'like'],
]

/** Other words, and two risks that do not depend on each other in the other order. */
function paraphrase(text: string, random: Random): string | null {
  const plan = readPlan(text)
  const edits = new Map<Block, string>()
  const risks = plan.blocks.filter(({ kind, section }) => kind === 'item' && /^risks?\b/i.test(section))
  const at = random.below(Math.max(1, risks.length - 1))
  const [one, two] = [risks[at], risks[at + 1]]
  if (one !== undefined && two !== undefined && one.marker === two.marker) {
    edits.set(one, reworded(two.text))
    edits.set(two, reworded(one.text))
  }
  for (const block of plan.blocks)
    if (!edits.has(block) && reworded(block.text) !== block.text) edits.set(block, reworded(block.text))
  return edits.size === 0 ? null : editBlocks(plan, edits).text
}

/** Not in code, and not in what is quoted. */
const reworded = (text: string): string =>
  text
    .split(/(`[^`]*`|"[^"]*")/)
    .map((part, n) => (n % 2 === 1 ? part : synonyms.reduce((words, [from, to]) => words.replace(from, to), part)))
    .join('')

/** A title in other words, and one more word where there is no question. */
function edit(text: string): string | null {
  const edited = text
    .replace(/^# Plan: (\S)/m, (_, first: string) => `# ${first.toUpperCase()}`)
    .replace(/^(## Open Questions\n+)None\.?$/m, '$1There are none.')
  if (edited !== text) return edited
  const titled = text.replace(/^# (?=\S)/m, '# Plan: ')
  return titled === text ? null : titled
}
