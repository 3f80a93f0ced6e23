import type { EffectiveConfig } from '../schemas/config.ts'
import { readDiff } from './complexity/read-diff.ts'
import type { Material } from './prepare-material.ts'
import type { PassKind } from './prompts/pass-instructions.ts'
import { fitText, type TextKind } from './tokens/fit-text.ts'
import { mayExceed } from './tokens/may-exceed.ts'
import type { Tokenizer } from './tokens/tokenizer.ts'

type Budgets = EffectiveConfig['review']['multipass']['budgets']

export type Fitting = {
  readonly question: { readonly does: PassKind; readonly large: boolean; readonly handedOn: string | null }
  readonly material: Material
  readonly budgets: Budgets
  readonly tokenizer: () => Promise<Tokenizer>
  readonly notice: (text: string) => void
}

/** What goes into the prompt, each part within its budget. What had to be left out is told to everybody. */
export async function fitMaterial({ question, material, budgets, tokenizer, notice }: Fitting) {
  const cut = async (name: string, text: string | null, budget: number, kind: TextKind): Promise<string | null> => {
    if (text === null || !mayExceed(text, budget)) return text
    const fitted = fitText(text, budget, kind, await tokenizer())
    if (fitted.dropped !== null) notice(`${name} is longer than its budget of ${budget} tokens: ${fitted.dropped}`)
    return fitted.text
  }
  const { pass1_output, pass2_input, pass2_output, pass3_input, high_complexity } = budgets
  const more = (usual: number, forComplex: number): number => (question.large ? Math.max(usual, forComplex) : usual)
  const forContent = more(pass2_input, high_complexity.pass2_input)
  const forFindings = more(Math.min(pass2_output, pass3_input), high_complexity.pass2_output)
  const forHandedOn = question.does === 'verify' ? forFindings : pass1_output
  const content = await cut('The content', material.content, forContent, kindOf(material))
  return {
    type: material.type,
    content: content ?? '',
    expertise: await cut('The expertise', material.expertise, pass1_output, 'document'),
    context: await cut('The context', material.context, pass3_input, 'document'),
    changes: await cut('The diff since the last review', material.changes, pass3_input, 'diff'),
    earlier: material.earlier,
    handedOn: await cut(
      'What the pass before handed on',
      question.handedOn,
      forHandedOn,
      handedOnKind(question.handedOn),
    ),
  }
}

const kindOf = ({ type, content }: Material): TextKind => {
  if (type !== 'code') return 'document'
  return readDiff(content) === null ? 'text' : 'diff'
}

const handedOnKind = (text: string | null): TextKind => (text?.startsWith('{') === true ? 'json' : 'text')
