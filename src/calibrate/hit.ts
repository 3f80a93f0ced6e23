import { wordsIn } from '../review/findings.ts'
import { locateFinding, readPlanText } from '../review/locate-finding.ts'
import type { Finding } from '../schemas/review.ts'
import type { Defect, DefectClass } from './defect.ts'

/** Whether a finding describes the defect that was seeded: by its place and by its words. */

export type Judged = 'hit' | 'miss' | 'unsure'
export type Reported = Pick<Finding, 'section' | 'problem' | 'evidence' | 'fix'>

/**
 * `hit`: it stands where the defect is and speaks of it. `miss`: it does not speak of it, or is about another place and
 * says little of it. What is left is for a judge.
 */
export function judgeFinding(finding: Reported, defect: Defect, text: string): Judged {
  const place = defect.file === null ? placeInPlan(finding, defect, text) : placeInCode(finding, defect)
  const said = speaksOf(finding, defect, text)
  if (said === 'clearly') return place === 'elsewhere' ? 'unsure' : 'hit'
  if (said === 'partly') return place === 'there' ? 'unsure' : 'miss'
  return 'miss'
}

type Place = 'there' | 'near' | 'elsewhere'

function placeInPlan(finding: Reported, defect: Defect, text: string): Place {
  const plan = readPlanText(text)
  const located = locateFinding(plan, finding)
  if (located === null) return 'elsewhere'
  if (located.lines.some((line) => defect.lines.includes(line))) return 'there'
  const titles = [...defect.sections, ...(usualSections[defect.class] ?? [])].map((title) => title.toLowerCase())
  const sections = plan.outline.sections.filter(({ from, to }) => {
    const at = located.lines[0] ?? located.section?.from ?? 0
    return from <= at && at <= to
  })
  return sections.some(({ title }) => titles.some((each) => title.toLowerCase().startsWith(each)))
    ? 'near'
    : 'elsewhere'
}

/** Where a reader may as well place what is missing. */
const usualSections: { readonly [name in DefectClass]?: readonly string[] } = {
  'rollback-removed': ['risks', 'changes', 'approach', 'rollout', 'deployment', 'migration'],
  'test-dropped': ['changes', 'approach', 'tests', 'proof', 'requirements', 'goal', 'verification'],
  'failure-case-dropped': ['risks', 'approach', 'changes'],
  'two-writers': ['risks', 'approach', 'changes'],
  'caller-not-listed': ['changes', 'context', 'approach'],
  'requirement-dropped': ['requirements', 'goal', 'changes', 'approach'],
  'steps-swapped': ['approach'],
  'goal-against-changes': ['goal', 'requirements', 'approach', 'changes'],
  'permission-widened': ['risks', 'requirements', 'approach', 'changes'],
  'path-missing': ['context'],
}

/** A line or two beside it is the same place: reviewers count from the hunk. */
const near = 3

function placeInCode({ section, evidence }: Reported, { file, lines }: Defect): Place {
  const name = file ?? ''
  const path = [section, evidence].find((text) => text.includes(name) || text.includes(name.split('/').at(-1) ?? name))
  if (path === undefined) return 'elsewhere'
  const numbers = [...path.matchAll(/(?::|\bL|\blines? )(\d{1,6})(?:\s?[-\u2013]\s?(\d{1,6}))?/g)].map(
    ([, from, to]) => [Number(from), Number(to ?? from)] as const,
  )
  const isThere = numbers.some(([from, to]) => lines.some((line) => line >= from - near && line <= to + near))
  return isThere ? 'there' : 'near'
}

/** A group of words for each thing that is said of a defect of that class; each group has to be met. */
const spoken: { readonly [name in DefectClass]: readonly RegExp[] } = {
  'rollback-removed': [
    /\b(?:roll(?:ed|s|ing)?[ -]?back|way back|revert|undo|undone|down[ -]migration|restor|back ?out|irreversib|reversib|go(?:ing)? back)/,
  ],
  'steps-swapped': [
    /\b(?:(?:wrong|right|correct|step) (?:order|sequence)|order of (?:the )?(?:first )?(?:two|steps?)|sequence|out of order|swap|exchang|reorder|preced|too early|premature|earlier step|later step|after step|(?:not|n't) (?:yet )?exist|before .{0,60}\b(?:exist|made|added|there|defined|created)|comes? (?:before|after)|only (?:in )?(?:step|the next)|depends? on)/,
  ],
  'path-missing': [
    /\b(?:exist|(?:there|it) is no|no such|no file|missing|not found|wrong|misnam|instead|does not|named|called|path)/,
  ],
  'test-dropped': [
    /\b(?:test|proof|prove|prov(?:es|en)|verif|regression|coverage|covered)/,
    /\b(?:no|not|none|missing|without|lack|absent|nothing|untested|never|omit|add|names? no)/,
  ],
  'goal-against-changes': [
    /\b(?:goal|contradict|inconsisten|conflict|mismatch|disagree|differ|while|but|whereas|instead|not match|against)/,
  ],
  'permission-widened': [
    /\b(?:permission|right|role|access|author|privilege|allow|anyone|any user|anybody|everybody|everyone|restrict|mode|world|readable|write|writab|only|security|scope|secret)/,
  ],
  'failure-case-dropped': [
    /\b(?:fail|time[sd]? ?out|timeout|unreachable|unavailable|down|error|outage|answer|respon[ds])/,
  ],
  'two-writers': [
    /\b(?:concurren|race|racing|lock|twice|at once|same time|simultan|parallel|overwr|lost update|last (?:one|write|to write)|side by side|interleav|mutual|both)/,
  ],
  'caller-not-listed': [/\b(?:call|uses?|caller|usage|depend|import|compil|break|list|missing)/],
  'requirement-dropped': [
    /\b(?:requir|request|asked|demand|wants?|missing|not (?:cover|mention|address)|omit|no step|nothing|drop|not say|says? nothing|left out|absent)/,
  ],
  'await-dropped': [/\b(?:await|promise|async|not wait|nothing waits|unhandled|floating|resolv|never settles|race)/],
  'condition-negated': [
    /\b(?:condition|invert|negat|opposite|reverse|wrong way|flipp|instead of|only (?:if|when)|when it is|always|never|backward)/,
  ],
  'bound-off-by-one': [
    /\b(?:off.by.one|bound|limit|inclusive|exclusive|boundar|equal|exactly|one (?:too|more|less|fewer)|edge|<|>|at most|at least|zero|minimum|maximum)/,
  ],
  'check-removed': [
    /\b(?:null|undefined|none|empty|missing|check|guard|absent|not exist|not found|crash|typeerror|dereferenc|lacks?)/,
  ],
  'error-swallowed': [
    /\b(?:swallow|error|exception|throw|rethrow|fail|ignored?|silent|caught|catch|suppress|lost|success)/,
  ],
  'tests-removed': [/\b(?:test|cover|untested|regression|prov)/],
  'arguments-swapped': [
    /\b(?:argument|parameter|order|swap|wrong way|mixed up|position|interchang|first|second|reverse|passed)/,
  ],
  'validation-dropped': [
    /\b(?:validat|check|invalid|range|unchecked|limit|reject|refus|accept|guard|format|positive|negative|sanit|malformed|bound)/,
  ],
  'resource-left-open': [/\b(?:clos|leak|releas|open|unlock|clear|handle|dispose|clean|finally|timer|lock|held|free)/],
}

/** The defects whose words are enough: what they are about is gone from the plan as a whole. */
const ofWholePlan: readonly DefectClass[] = ['rollback-removed', 'test-dropped']

/** The defects that are about one file; a finding that does not name it is about something else. */
const ofOneFile: readonly DefectClass[] = ['path-missing', 'caller-not-listed']

/** By its path or its own name, and not as a part of another one. */
const isNamed = (words: string, path: string): boolean =>
  [path, path.split('/').at(-1) ?? path].some((name) =>
    words.split(/[^\w./-]+/).some((word) => word.replace(/[.:]+$/, '') === name),
  )

type Said = 'clearly' | 'partly' | 'not'

function speaksOf(finding: Reported, defect: Defect, text: string): Said {
  const words = `${finding.section} ${finding.problem} ${finding.evidence} ${finding.fix}`.toLowerCase()
  // Who quotes the place has not said anything of it yet; who knows what stood there has.
  const isKnown = knowsWhatWas(words, defect, text)
  const said = (words: string): string => (isKnown ? words : withoutQuotes(words, text, defect))
  const evidence = finding.evidence.toLowerCase()
  const isQuoted = !isKnown && defect.is.length >= 6
  const problem = `${said(finding.problem.toLowerCase())} ${said(isQuoted ? evidence.replaceAll(defect.is.toLowerCase(), ' ') : evidence)}`
  const own = `${problem} ${said(finding.fix.toLowerCase())}`
  const isOfClass = spoken[defect.class].every((group) => group.test(own))
  const names = namesIn(`${defect.was}\n${defect.is}`)
  const stems = ownStems(defect, text)
  const weightOf = (said: string): number => {
    const known = new Set(wordsIn(said).map(stemOf))
    return (
      Math.min(2, names.filter((name) => said.includes(name)).length) + stems.filter((stem) => known.has(stem)).length
    )
  }
  const isExact = defect.is.length >= 6 && words.includes(defect.is.toLowerCase())
  const weight = weightOf(words) + (isExact ? 2 : 0)
  const isAboutAbsence = ofWholePlan.includes(defect.class) && isOfClass
  if (isAboutAbsence)
    return /\b(?:no|not|none|without|missing|lacks?|nothing|never|absent|cannot|n't|irreversibl\w*|untested|unclear|omits?|neither|any)\b/.test(
      problem,
    )
      ? 'clearly'
      : 'partly'
  const [path] = names.filter((name) => /[/.]\w+$/.test(name))
  const isKeyed = !ofOneFile.includes(defect.class) || path === undefined || isNamed(words, path) || isExact
  // Words of the class are met by chance; what else it says of the place, or that it knows what stood there, is its own.
  const beside = spoken[defect.class].reduce((left, group) => left.replace(new RegExp(group, 'g'), ' '), own)
  const isOwn = weightOf(beside) >= 1 || isKnown || defect.is === ''
  if (isOfClass && weight >= 2) return isKeyed && isOwn && !approves(finding) ? 'clearly' : 'partly'
  return isOfClass && weight >= 1 ? 'partly' : weight >= 3 ? 'partly' : 'not'
}

const inOneLine = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim()

/** A number or a name may stand elsewhere in the text: beside the new one it was compared with it. */
const knowsWhatWas = (words: string, { was, is }: Defect, text: string): boolean =>
  was.length < 6
    ? was !== '' && [was, is].every((value) => wordsIn(words).includes(value.toLowerCase()))
    : inOneLine(words).includes(inOneLine(was)) && !inOneLine(text).includes(inOneLine(was))

const run = 4

/** Without passages of some words that stand in the text: in those nobody says what is wrong with them. */
function withoutQuotes(said: string, text: string, { is }: Defect): string {
  const plain = (word: string): string => word.replace(/[^\p{L}\p{N}]/gu, '')
  const splitUp = (passage: string): readonly string[] => passage.split(/\s+/).filter((word) => plain(word) !== '')
  const runsOf = (passage: readonly string[]): readonly string[] =>
    passage.slice(run - 1).map((_, at) =>
      passage
        .slice(at, at + run)
        .map(plain)
        .join(' '),
    )
  const known = new Set(runsOf(splitUp(`${text}\n${is}`.toLowerCase())))
  const words = splitUp(said)
  const quoted = runsOf(words).map((each) => known.has(each))
  return words.filter((_, at) => !quoted.slice(Math.max(0, at - run + 1), at + 1).includes(true)).join(' ')
}

/** Nothing is to be changed, or only how it is said. */
const approves = ({ problem, fix }: Reported): boolean =>
  /^\W*(?:nothing|none|no change|n\/a)\b.{0,20}$/i.test(fix) ||
  /\b(?:this|that|it|which) is (?:right|correct|fine|good|ok|okay|sound)\b|\bwell (?:put|said|done)\b/i.test(problem) ||
  /\b(?:wording|(?:sentence|paragraph|passage|step|line) (?:is|reads) (?:too |rather |very )?(?:long|wordy|clumsy|awkward|hard to read))\b/i.test(
    problem,
  )

/** Names of the changed text: code in backticks, of code itself its identifiers. */
function namesIn(text: string): readonly string[] {
  const code = [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  const plain = text.match(/[\w-]+(?:[/.][\w-]+)+|\b[a-z]+[A-Z]\w+|\b\w+_\w+\b/g) ?? []
  return [...new Set([...code, ...plain].map((name) => name.replace(/\(.*$/, '').toLowerCase()))].filter(
    (name) => name.length >= 3,
  )
}

/** The stems of what was there and of what is there now, without those that a plan or a change is full of. */
function ownStems(defect: Defect, text: string): readonly string[] {
  const counts = new Map<string, number>()
  for (const stem of wordsIn(text).map(stemOf)) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  const own = wordsIn(`${defect.was} ${defect.is}`)
    .map(stemOf)
    .filter((stem) => stem.length >= 4 || /^\d+$/.test(stem))
  return [...new Set(own)].filter((stem) => !common.has(stem) && (counts.get(stem) ?? 0) <= 8)
}

const stemOf = (word: string): string =>
  word.length <= 4 ? word : word.replace(/(?:ations?|ings?|edly|ed|ies|es|s|ly|e|y|ment|ness)$/, '')

const common: ReadonlySet<string> = new Set(
  (
    'this that with from they them their there when where which what than then have must will would only ' +
    'also into such each other chang plan test true false return const await name type because befor ' +
    'after again stay does need made mak tak'
  )
    .split(' ')
    .map(stemOf),
)
