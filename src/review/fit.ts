import type { EffectiveConfig } from '../config/schema.ts'
import { type Finding, severities } from '../schemas/review.ts'
import { clipEnd } from '../text/clean.ts'
import { parseDiff } from '../text/unified-diff.ts'
import { fitText, type TextKind } from './fit-text.ts'
import type { PassKind } from './prompts.ts'
import type { Material } from './request.ts'
import { type CountTokens, mayExceedBudget } from './tokens.ts'

type Budgets = EffectiveConfig['review']['multipass']['budgets']

type Fitting = {
  readonly question: { readonly does: PassKind; readonly large: boolean; readonly handedOn: string | null }
  readonly material: Material
  readonly budgets: Budgets
  readonly tokenizer: () => Promise<CountTokens>
  readonly notice: (text: string) => void
}

/** The parts of the prompt, each within its budget; a notice says what was left out. */
export async function fitMaterial({ question, material, budgets, tokenizer, notice }: Fitting) {
  const cut = async (name: string, text: string | null, budget: number, kind: TextKind): Promise<string | null> => {
    if (text === null || !mayExceedBudget(text, budget)) return text
    const fitted = fitText(text, budget, kind, await tokenizer())
    if (fitted.dropped !== null) notice(`${name} is longer than its budget of ${budget} tokens: ${fitted.dropped}`)
    return fitted.text
  }
  const { pass1_output, pass2_input, pass2_output, pass3_input, high_complexity } = budgets
  const more = (usual: number, forComplex: number): number => (question.large ? Math.max(usual, forComplex) : usual)
  const forContent = more(pass2_input, high_complexity.pass2_input)
  const forFindings = more(Math.min(pass2_output, pass3_input), high_complexity.pass2_output)
  const forHandedOn = question.does === 'verify' ? forFindings : pass1_output
  const { type, iteration, rounds } = material
  // Only what was read is approved: a plan that is too long is refused before it is sent.
  const content =
    type === 'plan' ? material.content : await cut('The content', material.content, forContent, kindOf(material))
  const intentName = type === 'code' ? 'The approved plan' : 'The request'
  return {
    type,
    iteration,
    rounds,
    content: content ?? '',
    expertise: await cut('The expertise', material.expertise, pass1_output, 'document'),
    guidelines: await cut('The guidelines', material.guidelines, pass1_output, 'document'),
    intent: await cut(intentName, material.intent, forContent, 'document'),
    context: await cut('The context', material.context, pass3_input, 'document'),
    changes: await cut('The diff since the last review', material.changes, pass3_input, 'diff'),
    // Part of the approved bytes, and of what plan.max_tokens counts.
    replies:
      type === 'plan' ? material.replies : await cut("The author's replies", material.replies, pass3_input, 'document'),
    earlier: await fitFindings(material.earlier, forContent, tokenizer, notice),
    handedOn: await cut(
      'The notes of the previous pass',
      question.handedOn,
      forHandedOn,
      handedOnKind(question.handedOn),
    ),
  }
}

/** Each finding stays, since each needs a status: the gravest whole, the others shortened where they do not fit. */
async function fitFindings(
  findings: readonly Finding[],
  budget: number,
  tokenizer: Fitting['tokenizer'],
  notice: Fitting['notice'],
): Promise<readonly Finding[]> {
  if (!mayExceedBudget(JSON.stringify(findings), budget)) return findings
  const count = await tokenizer()
  const fitted = new Map(findings.map((finding) => [finding, shortened(finding)]))
  let left = budget - count(JSON.stringify([...fitted.values()]))
  const gravestFirst = [...findings].sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  for (const finding of gravestFirst) {
    const more = count(JSON.stringify(finding)) - count(JSON.stringify(fitted.get(finding)))
    if (more > left) continue
    left -= more
    fitted.set(finding, finding)
  }
  const cut = findings.filter((finding) => fitted.get(finding) !== finding).length
  if (cut > 0)
    notice(
      `The earlier findings are longer than their budget of ${budget} tokens: ${cut} of ${findings.length} are shortened.`,
    )
  return [...fitted.values()]
}

const shortened = ({ section, problem, ...finding }: Finding): Finding => ({
  ...finding,
  section: clipEnd(section, 100),
  problem: clipEnd(problem, 200),
  evidence: '',
  fix: '',
})

const kindOf = ({ type, content }: Material): TextKind => {
  if (type !== 'code') return 'document'
  return parseDiff(content) === null ? 'text' : 'diff'
}

const handedOnKind = (text: string | null): TextKind => (text?.startsWith('{') === true ? 'json' : 'text')
