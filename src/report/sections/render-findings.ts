import { type Html, html } from '../html.ts'
import { placeWords } from '../place-words.ts'
import type { FindingState, FindingStep, FindingTrace } from '../trace-findings.ts'
import type { Tone } from '../verdict-words.ts'
import type { CycleView } from '../view-cycles.ts'
import { renderFate, renderSeverity, renderTag } from './render-label.ts'
import { renderInnerPart, renderNothing } from './render-part.ts'
import { renderInline, renderProse, renderSentence } from './render-prose.ts'

/** Each finding of a cycle with what became of it. */
export const renderFindings = ({ anchor, traces }: CycleView): Html =>
  renderInnerPart({
    id: `${anchor}-findings`,
    title: 'Findings and their fate',
    body:
      traces.length === 0
        ? renderNothing('Nothing was found.')
        : html`<ol>${traces.map((trace, index) => renderFinding(trace, `${anchor}-f${index + 1}`))}</ol>`,
  })

function renderFinding(trace: FindingTrace, anchor: string): Html {
  const { id, section, problem, evidence, fix } = trace.finding
  return html`
<li class="finding" id="${anchor}">
<div class="finding-head">
<h4><span class="finding-id">${renderInline(id, 20)}</span> ${renderInline(placeWords(section), 200)}</h4>
${renderSeverity(trace)} ${trace.late ? renderTag('plain', 'came late') : null} ${renderFate(trace)}
</div>
${renderProse(problem)}
${renderField('Evidence', evidence)}
${renderField('Fix', fix)}
<ol class="trail" aria-label="What became of it">${trace.steps.map(renderStep)}</ol>
</li>`
}

const renderField = (name: string, text: string): Html | null =>
  text.trim() === '' ? null : html`<div class="field"><p class="field-name">${name}</p>${renderProse(text)}</div>`

const states: { readonly [S in FindingState]: { readonly words: string; readonly tone: Tone } } = {
  raised: { words: 'raised', tone: 'wait' },
  'not-fixed': { words: 'not fixed', tone: 'wait' },
  fixed: { words: 'fixed', tone: 'good' },
  rejected: { words: 'rejected: the author declined it, with reason', tone: 'plain' },
  gone: { words: 'not named again', tone: 'plain' },
}

function renderStep({ state, from, to, reason }: FindingStep): Html {
  const { words, tone } = states[state]
  const where = from === to ? `v${from}` : `v${from}–v${to}`
  return html`
<li class="${tone}"><span class="trail-place">${where}</span>
<span>${words}${reason === '' ? null : html` — ${renderSentence(reason)}`}</span></li>`
}
