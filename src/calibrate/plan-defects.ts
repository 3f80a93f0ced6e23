import type { ControlName, Defect, DefectClass } from './cases.ts'
import {
  type Block,
  codeIn,
  type Edited,
  editBlocks,
  type Plan,
  pathsIn,
  readPlan,
  sentencesOf,
} from './plan-blocks.ts'
import type { Random } from './statistics.ts'
import vocabulary from './vocabulary.json'

/** Copies of a plan: with one defect that a reviewer is to find, or as good as it is. */

export type PlanFacts = {
  /** Whether a path exists in the project that the plan is about. */
  readonly exists: (path: string) => boolean
  /** The reviewer is told what was asked for. */
  readonly hasRequest: boolean
}

type Seeding = { readonly plan: Plan; readonly facts: PlanFacts; readonly random: Random }
type Seeded = {
  readonly edits: ReadonlyMap<Block, string | null>
  /** What is gone, or was there in another form. */
  readonly was: string
  readonly is?: string
  readonly why: string
}

export type Mutant = { readonly text: string; readonly before: readonly number[]; readonly defect: Defect }

/** null: the plan has no place for a defect of this class. */
export function seedPlanDefect(text: string, name: DefectClass, facts: PlanFacts, random: Random): Mutant | null {
  const plan = readPlan(text)
  const seeded = planDefects[name]?.({ plan, facts, random }) ?? null
  if (seeded === null) return null
  const edited: Edited = editBlocks(plan, seeded.edits)
  const [block] = seeded.edits.keys()
  return {
    text: edited.text,
    before: edited.before,
    defect: {
      class: name,
      section: block?.section ?? '',
      sections: [...new Set([...seeded.edits.keys()].map(({ section }) => section))],
      file: null,
      lines: edited.lines,
      why: seeded.why,
      was: seeded.was,
      is: seeded.is ?? '',
    },
  }
}

const isChanges = ({ section }: Block): boolean => /^changes\b/i.test(section)
const isGoal = ({ section }: Block): boolean => /^goals?\b/i.test(section)
const isListed = ({ kind }: Block): boolean => kind !== 'paragraph'
const isTestPath = (path: string): boolean =>
  /(?:^|\/)(?:tests?|specs?|__tests__)\/|[._-](?:test|spec)\.\w+$|(?:^|\/)test_\w+\.py$|_test\.\w+$/.test(path)
const pathAtStart = ({ text }: Block): string => pathsIn(text.slice(0, 80))[0] ?? ''
/** `importPrices(begin, rows)` is about importPrices. */
const namesIn = ({ text }: Block): readonly string[] => codeIn(text).map((code) => code.replace(/[\s({].*$/, ''))
const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? []
const textOf = (blocks: readonly Block[]): string => blocks.map(({ text }) => text).join('\n')

const pick = <T>(random: Random, list: readonly T[]): T | null => list[random.below(list.length)] ?? null
const orElse = <T>(preferred: readonly T[], all: readonly T[]): readonly T[] => (preferred.length > 0 ? preferred : all)

const replacements = (rows: readonly (readonly string[])[], flags = ''): readonly (readonly [RegExp, string])[] =>
  rows.map(([from = '', to = '']) => [new RegExp(from, flags), to])

const replaceable = (blocks: readonly Block[], rows: readonly (readonly string[])[]) =>
  blocks.flatMap((block) =>
    replacements(rows).flatMap(([from, to]) => {
      const [was] = from.exec(block.text) ?? []
      return was === undefined ? [] : [{ block, from, was, is: was.replace(from, to) }]
    }),
  )

/** Not where a section would be left empty: that is seen by its form. */
const removal = ({ plan: { blocks } }: Seeding, gone: readonly Block[], why: string): Seeded | null =>
  gone.length === 0 ||
  gone.length > 6 ||
  gone.some(({ section }) => !blocks.some((block) => block.section === section && !gone.includes(block)))
    ? null
    : { edits: new Map(gone.map((block) => [block, null])), was: textOf(gone), why }

const { patterns } = vocabulary
const [rollback, aboutTests] = [new RegExp(patterns.rollback, 'i'), new RegExp(patterns.tests, 'i')]
const [failing, outside] = [new RegExp(patterns.failing, 'i'), new RegExp(patterns.outside, 'i')]
const [guarded, calling] = [new RegExp(patterns.guarded, 'i'), new RegExp(patterns.calling, 'i')]

type Seed = (seeding: Seeding) => Seeded | null

const planDefects: { readonly [name in DefectClass]?: Seed } = {
  'rollback-removed'(seeding) {
    const items = seeding.plan.blocks.filter(isListed)
    const about = items.filter((block) => !isChanges(block) && rollback.test(block.text.slice(0, 60)))
    const files = items.filter(
      (block) => isChanges(block) && /[._-]down\.|\brollback\b/i.test(pathsIn(block.text)[0] ?? ''),
    )
    return about.length === 0 ? null : removal(seeding, [...about, ...files], 'There is no way back any more.')
  },

  /** A step that makes something new and the next one that needs it change places. */
  'steps-swapped'({ plan, random }) {
    const steps = plan.blocks.filter(
      ({ kind, section }) => kind === 'numbered' && !/^(?:changes|risks|open)\b/i.test(section),
    )
    const known = new Set(plan.blocks.filter(({ section }) => /^(?:context|goal)/i.test(section)).flatMap(namesIn))
    const makes = /^(?:add|create|make|introduce|write|give|replace|install|define|extract)\b/i
    const pairs = steps.flatMap((first, at) => {
      const second = steps[at + 1]
      if (second === undefined || second.section !== first.section || !makes.test(first.text)) return []
      const before = new Set([...known, ...steps.slice(0, at).flatMap(namesIn)])
      const made = namesIn(first).find((name) => !before.has(name) && namesIn(second).includes(name))
      return made === undefined ? [] : [{ first, second, made }]
    })
    const chosen = pick(random, pairs)
    if (chosen === null) return null
    const { first, second, made } = chosen
    return {
      edits: new Map([
        [first, second.text],
        [second, first.text],
      ]),
      was: textOf([first, second]),
      why: `The step that needs ${made} comes before the one that makes it.`,
    }
  },

  /** A file is called what no file is called; under Changes the checklist would see it. */
  'path-missing'({ plan, facts, random }) {
    const whole = plan.lines.join('\n')
    const places = plan.blocks
      .filter((block) => !isChanges(block))
      .flatMap((block) => pathsIn(block.text).map((path) => ({ block, path })))
      .filter(({ path }) => /\.\w+$/.test(path) && facts.exists(path))
    const context = places.filter(({ block }) => /^context|^background/i.test(block.section))
    const chosen = pick(random, orElse(context, places))
    if (chosen === null) return null
    const { block, path: was } = chosen
    const wrong = vocabulary.otherNames
      .map((name) => was.replace(/(\.[^/]*)$/, `-${name}$1`))
      .filter((path) => !facts.exists(path) && !whole.includes(path))
    const is = pick(random, wrong)
    if (is === null) return null
    const edits = new Map([[block, block.text.replaceAll(`\`${was}\``, `\`${is}\``)]])
    return { edits, was, is, why: `There is no ${is}.` }
  },

  'test-dropped'(seeding) {
    const { blocks } = seeding.plan
    const about = blocks.filter(
      (block) => isListed(block) && (isTestPath(pathAtStart(block)) || aboutTests.test(block.text)),
    )
    const paths = about.flatMap(({ text }) => pathsIn(text).filter(isTestPath))
    // What is still named elsewhere is not gone.
    const others = blocks.filter((block) => !about.includes(block) && !/^context/i.test(block.section))
    const isNamed = others.some(({ text }) => paths.some((path) => text.includes(path)))
    return isNamed ? null : removal(seeding, about, 'No test shows any more that it works.')
  },

  /** The goal asks for something else than what is planned. */
  'goal-against-changes'({ plan, random }) {
    const goals = plan.blocks.filter(isGoal)
    const others = textOf(plan.blocks.filter((block) => !isGoal(block))).replace(/(\d),(?=\d{3})/g, '$1')
    const numbers = goals.flatMap((block) =>
      [...block.text.matchAll(/(?<![\w.,`:/-])(\d{1,6})(?![\w.,:/-]*\d)(?=\s+[a-z])/g)]
        .map(([, number = '']) => number)
        .filter((number) => Number(number) > 1 && new RegExp(`(?<![\\w.-])${number}(?![\\w-])`).test(others))
        .map((was) => ({
          ...{ block, was, is: String(Number(was) * 3) },
          from: new RegExp(`(?<![\\w.,\`:/-])${was}(?![\\w-])`, 'g'),
        })),
    )
    const chosen = pick(random, numbers) ?? replaceable(goals, vocabulary.opposites)[0]
    if (chosen === undefined) return null
    const { block, from, was, is } = chosen
    const around = sentencesOf(block.text).find((sentence) => from.test(sentence)) ?? block.text
    return {
      edits: new Map([[block, block.text.replace(from, is)]]),
      // A number says by itself what is meant, and a word does not.
      was: /^\d/.test(was) ? was : around,
      is,
      why: `The goal says "${is}" where the rest of the plan is made for "${was}": ${around}`,
    }
  },

  'permission-widened'({ plan, random }) {
    const others = plan.blocks.filter((block) => !isGoal(block))
    const chosen = pick(random, replaceable(others, vocabulary.wider))
    if (chosen === null) return null
    const { block, was } = chosen
    const is = chosen.is.replace(
      /^(Any user )(reach|get) /,
      (_, who, does) => `${who}${does}${does === 'get' ? 's' : 'es'} `,
    )
    const edits = new Map([[block, block.text.replace(was, is)]])
    return { edits, was, is, why: `More is permitted than before: "${is}" instead of "${was}".` }
  },

  'failure-case-dropped'(seeding) {
    const { plan, random } = seeding
    const cases = plan.blocks.flatMap((block) => {
      if (isChanges(block) || block.kind !== 'item' || !/^(?:if|when|where|should)\b/i.test(block.text)) return []
      // Where another part says it too, nothing is missing.
      const names = [...new Set(codeIn(block.text))]
      const others = plan.blocks.filter((other) => other !== block && !isChanges(other) && failing.test(other.text))
      if (others.some(({ text }) => names.filter((name) => codeIn(text).includes(name)).length > 1)) return []
      const start = block.text.slice(0, 110)
      const noun = outside.exec(start)?.[1]?.toLowerCase()
      return noun === undefined || !failing.test(start) ? [] : [{ block, noun }]
    })
    const { noun } = pick(random, cases) ?? {}
    const same = cases.flatMap((one) => (one.noun === noun ? [one.block] : []))
    return removal(seeding, same, `What happens when the ${noun} fails is not said any more.`)
  },

  /** The guard goes, and what it guarded against is what happens. */
  'two-writers'({ plan, random }) {
    const places = plan.blocks.flatMap((block) => {
      if (isChanges(block) || isGoal(block) || !isListed(block) || /^(?:if|when)\b/i.test(block.text)) return []
      const sentence = sentencesOf(block.text).find((each) => guarded.test(each))
      return sentence === undefined || /\bcannot\b/.test(sentence) ? [] : [{ block, sentence }]
    })
    const clear = places.filter(({ block }) => /^(?:two|both|several|concurrent)\b/i.test(block.text))
    const chosen = pick(random, orElse(clear, places))
    const is = pick(random, vocabulary.unguarded)
    if (chosen === null || is === null) return null
    const { block, sentence } = chosen
    // "Two requests at once: …" keeps what it is about.
    const [lead = ''] = /^[^.;:]{3,80}[;:] /.exec(sentence) ?? []
    const was = sentence.slice(lead.length)
    const now = `${lead || 'Several processes may do this at once: '}${is}.`
    const edits = new Map([[block, block.text.replace(sentence, () => now)]])
    return guarded.test(was) ? { edits, was, is, why: 'Two writers at once overwrite each other.' } : null
  },

  'caller-not-listed'(seeding) {
    const { plan, facts, random } = seeding
    const callers = plan.blocks.filter((block) => {
      const path = pathAtStart(block)
      const isSource = path !== '' && !isTestPath(path) && facts.exists(path)
      return isChanges(block) && isListed(block) && isSource && calling.test(block.text)
    })
    const explicit = callers.filter(({ text }) => /\bcall(?:s|er|ers|ed)?\b/i.test(text))
    const chosen = pick(random, orElse(explicit, callers))
    if (chosen === null) return null
    return removal(seeding, [chosen], `${pathsIn(chosen.text)[0] ?? ''} calls what changes, and is not listed.`)
  },

  /** One that nothing else in the plan covers as well as others do. */
  'requirement-dropped'(seeding) {
    const { plan, facts, random } = seeding
    const items = plan.blocks.filter(isListed)
    const named = items.filter(({ section }) => /requirement|acceptance|criteria/i.test(section))
    const list = named.length >= 3 ? named : items.filter(isGoal)
    if (!facts.hasRequest || list.length < 3) return null
    const covered = (block: Block): number => {
      const rest = new Set(wordsOf(textOf(plan.blocks.filter((other) => other !== block))))
      const words = [...new Set(wordsOf(block.text))]
      return words.filter((word) => rest.has(word)).length / Math.max(1, words.length)
    }
    const least = [...list].sort((a, b) => covered(a) - covered(b)).slice(0, 2)
    const chosen = pick(random, least)
    if (chosen === null) return null
    return removal(seeding, [chosen], `A requirement has no place in the plan any more: ${chosen.text}`)
  },
}

/** A copy that is as good as the plan: what a reviewer holds against one, it holds against it for nothing. */
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
const synonyms = replacements(vocabulary.synonyms, 'g')

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
