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
  const seeded = planDefects.find((each) => each.name === name)?.seed({ plan, facts, random }) ?? null
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
const gone = (blocks: readonly Block[]): ReadonlyMap<Block, null> => new Map(blocks.map((block) => [block, null]))
const textOf = (blocks: readonly Block[]): string => blocks.map(({ text }) => text).join('\n')
const pick = <T>(random: Random, list: readonly T[]): T | null => list[random.below(list.length)] ?? null

function replacements(rows: readonly (readonly string[])[], flags = ''): readonly (readonly [RegExp, string])[] {
  return rows.map(([from = '', to = '']) => [new RegExp(from, flags), to])
}

/** A section that is left empty would be seen by its form. */
const leavesSections = ({ blocks }: Plan, removed: readonly Block[]): boolean =>
  removed.every(({ section }) => blocks.some((block) => block.section === section && !removed.includes(block)))

const removal = ({ plan }: Seeding, blocks: readonly Block[], why: string): Seeded | null =>
  blocks.length === 0 || blocks.length > 6 || !leavesSections(plan, blocks)
    ? null
    : { edits: gone(blocks), was: textOf(blocks), why }

const rollback = /\b(?:way back|roll(?:ed|s|ing)?[ -]?backs?|revert(?:ed|s)?|down migration|undone|restored? from)\b/i

function dropRollback(seeding: Seeding): Seeded | null {
  const items = seeding.plan.blocks.filter(({ kind }) => kind !== 'paragraph')
  const about = items.filter((block) => !isChanges(block) && rollback.test(block.text.slice(0, 60)))
  if (about.length === 0) return null
  const files = items.filter(
    (block) => isChanges(block) && /[._-]down\.|\brollback\b/i.test(pathsIn(block.text)[0] ?? ''),
  )
  return removal(seeding, [...about, ...files], 'There is no way back any more.')
}

/** A step that makes something new and the next one that needs it change places. */
function swapSteps({ plan, random }: Seeding): Seeded | null {
  const steps = plan.blocks.filter(
    ({ kind, section }) => kind === 'numbered' && !/^(?:changes|risks|open)\b/i.test(section),
  )
  const known = new Set(plan.blocks.filter(({ section }) => /^(?:context|goal)/i.test(section)).flatMap(namesIn))
  const pairs = steps.flatMap((first, at) => {
    const second = steps[at + 1]
    if (second === undefined || second.section !== first.section || !makes.test(first.text)) return []
    const made = namesIn(first).find(
      (name) =>
        !known.has(name) &&
        namesIn(second).includes(name) &&
        !steps.slice(0, at).some((step) => namesIn(step).includes(name)),
    )
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
    was: `${first.text}\n${second.text}`,
    why: `The step that needs ${made} comes before the one that makes it.`,
  }
}

const makes = /^(?:add|create|make|introduce|write|give|replace|install|define|extract)\b/i
/** `importPrices(begin, rows)` is about importPrices. */
const namesIn = ({ text }: Block): readonly string[] => codeIn(text).map((code) => code.replace(/[\s({].*$/, ''))

/** A file is called what no file is called; under Changes the checklist would see it. */
function misnamePath({ plan, facts, random }: Seeding): Seeded | null {
  const whole = plan.lines.join('\n')
  const places = plan.blocks
    .filter((block) => !isChanges(block))
    .flatMap((block) => pathsIn(block.text).map((path) => ({ block, path })))
    .filter(({ path }) => /\.\w+$/.test(path) && facts.exists(path))
  const context = places.filter(({ block }) => /^context|^background/i.test(block.section))
  const chosen = pick(random, context.length > 0 ? context : places)
  if (chosen === null) return null
  const wrong = vocabulary.otherNames
    .map((name) => chosen.path.replace(/(\.[^/]*)$/, `-${name}$1`))
    .filter((path) => !facts.exists(path) && !whole.includes(path))
  const path = pick(random, wrong)
  if (path === null) return null
  const text = chosen.block.text.replaceAll(`\`${chosen.path}\``, `\`${path}\``)
  return { edits: new Map([[chosen.block, text]]), was: chosen.path, is: path, why: `There is no ${path}.` }
}

const isTestPath = (path: string): boolean =>
  /(?:^|\/)(?:tests?|specs?|__tests__)\/|[._-](?:test|spec)\.\w+$|(?:^|\/)test_\w+\.py$|_test\.\w+$/.test(path)
const aboutTests = /^(?:(?:add|write|extend|new|the|a|an|unit|integration|regression|end-to-end)\s+){0,3}tests?\b/i

function dropTests(seeding: Seeding): Seeded | null {
  const { blocks } = seeding.plan
  const about = blocks.filter(({ kind, text }) => {
    const [path] = pathsIn(text.slice(0, 80))
    return kind !== 'paragraph' && ((path !== undefined && isTestPath(path)) || aboutTests.test(text))
  })
  const paths = about.flatMap(({ text }) => pathsIn(text).filter(isTestPath))
  // What is still named elsewhere is not gone.
  const isNamed = blocks.some(
    (block) =>
      !about.includes(block) && !/^context/i.test(block.section) && paths.some((path) => block.text.includes(path)),
  )
  return isNamed ? null : removal(seeding, about, 'No test shows any more that it works.')
}

/** The goal asks for something else than what is planned. */
function changeGoal({ plan, random }: Seeding): Seeded | null {
  const others = plan.blocks
    .filter((block) => !isGoal(block))
    .map(({ text }) => text)
    .join('\n')
  const numbers = plan.blocks.filter(isGoal).flatMap((block) =>
    [...block.text.matchAll(/(?<![\w.,`:/-])(\d{1,6})(?![\w.,:/-]*\d)(?=\s+[a-z])/g)]
      .map(([, number = '']) => number)
      .filter(
        (number) =>
          Number(number) > 1 &&
          new RegExp(`(?<![\\w.-])${number}(?![\\w-])`).test(others.replace(/(\d),(?=\d{3})/g, '$1')),
      )
      .map((number) => ({
        block,
        from: new RegExp(`(?<![\\w.,\`:/-])${number}(?![\\w-])`, 'g'),
        was: number,
        is: String(Number(number) * 3),
      })),
  )
  const words = plan.blocks.filter(isGoal).flatMap((block) =>
    replacements(vocabulary.opposites).flatMap(([from, to]) => {
      const [was] = from.exec(block.text) ?? []
      return was === undefined ? [] : [{ block, from, was, is: was.replace(from, to) }]
    }),
  )
  const chosen = pick(random, numbers) ?? words[0] ?? null
  if (chosen === null) return null
  const text = chosen.block.text.replace(chosen.from, chosen.is)
  const around = sentencesOf(chosen.block.text).find((sentence) => chosen.from.test(sentence)) ?? chosen.block.text
  return {
    edits: new Map([[chosen.block, text]]),
    // A number says by itself what is meant, and a word does not.
    was: /^\d/.test(chosen.was) ? chosen.was : around,
    is: chosen.is,
    why: `The goal says "${chosen.is}" where the rest of the plan is made for "${chosen.was}": ${around}`,
  }
}

function widenPermission({ plan, random }: Seeding): Seeded | null {
  const rows = plan.blocks
    .filter((block) => !isGoal(block))
    .flatMap((block) =>
      replacements(vocabulary.wider).flatMap(([from, to]) => {
        const [was] = from.exec(block.text) ?? []
        return was === undefined ? [] : [{ block, was, is: was.replace(from, to) }]
      }),
    )
  const written = rows.map((row) => ({
    ...row,
    is: row.is.replace(/^(Any user )(reach|get) /, (_, who, does) => `${who}${does === 'get' ? 'gets' : 'reaches'} `),
  }))
  const chosen = pick(random, written)
  if (chosen === null) return null
  const { block, was, is } = chosen
  return {
    edits: new Map([[block, block.text.replace(was, is)]]),
    was,
    is,
    why: `More is permitted than before: "${is}" instead of "${was}".`,
  }
}

const failing =
  /\b(?:fail(?:s|ed|ing|ures?)?|times? out|timeouts?|unreachable|unavailable|(?:does|do) not (?:answer|respond)|never answers|is down|breaks off|cannot be reached)\b|`unknown`/i
const outside =
  /\b((?:(?!the |an? |if )[a-z]+ )?(?:service|server|provider|api|database|registry|bank|supplier|load balancer|gateway|network|queue|disk|broker|endpoint|upstream|host|writing the log|reading `[^`]+`))\b/i

function dropFailureCase(seeding: Seeding): Seeded | null {
  const { plan, random } = seeding
  const cases = plan.blocks.flatMap((block) => {
    if (isChanges(block) || block.kind !== 'item' || !/^(?:if|when|where|should)\b/i.test(block.text)) return []
    // Where another part says it too, nothing is missing.
    const names = [...new Set(codeIn(block.text))]
    const isSaidTwice = plan.blocks.some(
      (other) =>
        other !== block &&
        !isChanges(other) &&
        failing.test(other.text) &&
        names.filter((name) => codeIn(other.text).includes(name)).length > 1,
    )
    if (isSaidTwice) return []
    const start = block.text.slice(0, 110)
    const noun = outside.exec(start)?.[1]?.toLowerCase()
    return noun === undefined || !failing.test(start) ? [] : [{ block, noun }]
  })
  const chosen = pick(random, cases)
  if (chosen === null) return null
  const same = cases.filter(({ noun }) => noun === chosen.noun).map(({ block }) => block)
  return removal(seeding, same, `What happens when the ${chosen.noun} fails is not said any more.`)
}

const guarded =
  /\b(?:locks?(?! file)|locked|one at a time|only one of|skip locked|mutex|exclusive(?:ly)?|single writer|concurrency|wait for each other)\b/i
/** The guard goes, and what it guarded against is what happens. */
function allowTwoWriters({ plan, random }: Seeding): Seeded | null {
  const places = plan.blocks.flatMap((block) => {
    if (isChanges(block) || isGoal(block) || block.kind === 'paragraph' || /^(?:if|when)\b/i.test(block.text)) return []
    const sentence = sentencesOf(block.text).find((each) => guarded.test(each))
    return sentence === undefined || /\bcannot\b/.test(sentence) ? [] : [{ block, sentence }]
  })
  const clear = places.filter(({ block }) => /^(?:two|both|several|concurrent)\b/i.test(block.text))
  const chosen = pick(random, clear.length > 0 ? clear : places)
  const clause = pick(random, vocabulary.unguarded)
  if (chosen === null || clause === null) return null
  const { block, sentence } = chosen
  // "Two requests at once: …" keeps what it is about.
  const lead = /^[^.;:]{3,80}[;:] /.exec(sentence)?.[0]
  const is = lead === undefined ? `Several processes may do this at once: ${clause}.` : `${lead}${clause}.`
  const rest = lead === undefined ? sentence : sentence.slice(lead.length)
  if (!guarded.test(rest)) return null
  return {
    edits: new Map([[block, block.text.replace(sentence, () => is)]]),
    was: rest,
    is: clause,
    why: 'Two writers at once overwrite each other.',
  }
}

const calling = /\b(?:calls?|callers?|called|uses?|imports?|pass(?:es)? (?:it|the|`))\b/i

function dropCaller(seeding: Seeding): Seeded | null {
  const { plan, facts, random } = seeding
  const changes = plan.blocks.filter((block) => isChanges(block) && block.kind !== 'paragraph')
  const callers = changes.filter(({ text }) => {
    const [path] = pathsIn(text.slice(0, 80))
    return path !== undefined && !isTestPath(path) && facts.exists(path) && calling.test(text)
  })
  const explicit = callers.filter(({ text }) => /\bcall(?:s|er|ers|ed)?\b/i.test(text))
  const chosen = pick(random, explicit.length > 0 ? explicit : callers)
  if (chosen === null) return null
  return removal(seeding, [chosen], `${pathsIn(chosen.text)[0] ?? ''} calls what changes, and is not listed.`)
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? []

/** One that nothing else in the plan covers as well as others do. */
function dropRequirement(seeding: Seeding): Seeded | null {
  const { plan, facts, random } = seeding
  if (!facts.hasRequest) return null
  const items = plan.blocks.filter(({ kind }) => kind !== 'paragraph')
  const named = items.filter(({ section }) => /requirement|acceptance|criteria/i.test(section))
  const list = named.length >= 3 ? named : items.filter(isGoal)
  if (list.length < 3) return null
  const covered = (block: Block): number => {
    const rest = new Set(plan.blocks.filter((other) => other !== block).flatMap(({ text }) => wordsOf(text)))
    const words = [...new Set(wordsOf(block.text))]
    return words.filter((word) => rest.has(word)).length / Math.max(1, words.length)
  }
  const least = [...list].sort((a, b) => covered(a) - covered(b)).slice(0, 2)
  const chosen = pick(random, least)
  return chosen === null
    ? null
    : removal(seeding, [chosen], `A requirement has no place in the plan any more: ${chosen.text}`)
}

const planDefects: readonly { readonly name: DefectClass; readonly seed: (seeding: Seeding) => Seeded | null }[] = [
  { name: 'rollback-removed', seed: dropRollback },
  { name: 'steps-swapped', seed: swapSteps },
  { name: 'path-missing', seed: misnamePath },
  { name: 'test-dropped', seed: dropTests },
  { name: 'goal-against-changes', seed: changeGoal },
  { name: 'permission-widened', seed: widenPermission },
  { name: 'failure-case-dropped', seed: dropFailureCase },
  { name: 'two-writers', seed: allowTwoWriters },
  { name: 'caller-not-listed', seed: dropCaller },
  { name: 'requirement-dropped', seed: dropRequirement },
]

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
