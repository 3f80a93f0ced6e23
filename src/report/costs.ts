import {
  type Cost,
  type CycleView,
  costOf,
  listParts,
  type Part,
  type PartKind,
  partKinds,
  type RevisionView,
  sumCosts,
} from './data.ts'
import { formatCount, formatDuration, type Html, html, revisionLabel } from './html.ts'
import { renderInnerPart, renderLabel, renderNothing } from './parts.ts'

/** Time and tokens of each revision, as bars with a part for each pass, and as numbers. */
export const renderCosts = ({ anchor, revisions }: CycleView): Html =>
  renderInnerPart({
    id: `${anchor}-costs`,
    title: 'Time and tokens',
    body: revisions.length === 0 ? renderNothing('Nothing was reviewed.') : renderTableRenderCosts(revisions),
  })

type Most = { readonly ms: number; readonly tokens: number }

function renderTableRenderCosts(revisions: readonly RevisionView[]): Html {
  const costs = revisions.map(({ revision }) => costOf(revision))
  const most = {
    ms: Math.max(1, ...costs.map(({ ms }) => ms)),
    tokens: Math.max(1, ...costs.map(({ tokens }) => tokens ?? 0)),
  }
  const kinds = new Set(revisions.flatMap(({ revision }) => listParts(revision).map(({ kind }) => kind)))
  return html`
<ul class="legend" aria-label="Colours of the bars">${[...kinds].map(renderKey)}</ul>
<table><caption class="unseen">Time and tokens of each revision’s review</caption>
<thead><tr>
<th scope="col" class="cell cell-head of-revision">Revision</th>
<th scope="col" class="cell cell-head of-verdict">Verdict</th>
<th scope="col" class="cell cell-head">Time</th>
<th scope="col" class="cell cell-head">Tokens</th>
</tr></thead>
<tbody>${revisions.map((view) => renderRow(view, most))}</tbody>
<tfoot>${renderSums(sumCosts(costs))}</tfoot></table>`
}

const renderKey = (kind: PartKind): Html => html`
<li><svg class="swatch" width="12" height="12" aria-hidden="true"><rect class="pass-${kind}" width="12" height="12"
 rx="2"/></svg>${partKinds[kind]}</li>`

function renderRow({ revision, anchor }: RevisionView, most: Most): Html {
  const parts = listParts(revision)
  const { ms, tokens } = costOf(revision)
  const of = `of revision ${revision.revision}`
  return html`
<tr><th scope="row" class="cell"><a href="#${anchor}">v${revision.revision}</a></th>
<td class="cell of-verdict">${renderLabel(revisionLabel(revision))}</td>
<td class="cell"><div class="amount">${renderBar(`Time ${of}`, parts, (part) => part.ms / most.ms)}
<span class="amount-number">${formatDuration(ms)}</span></div></td>
<td class="cell"><div class="amount">${renderBar(`Tokens ${of}`, parts, (part) => (part.tokens ?? 0) / most.tokens)}
<span class="amount-number">${formatTokens(tokens)}</span></div></td></tr>`
}

const renderSums = ({ ms, tokens }: Cost): Html => html`
<tr class="sums"><th scope="row" class="cell">All</th><td class="cell of-verdict"></td>
<td class="cell"><div class="amount"><span class="amount-number">${formatDuration(ms)}</span></div></td>
<td class="cell"><div class="amount"><span class="amount-number">${formatTokens(tokens)}</span></div></td></tr>`

const formatTokens = (tokens: number | null): string => (tokens === null ? '–' : formatCount(tokens))

function renderBar(name: string, parts: readonly Part[], share: (part: Part) => number): Html {
  let x = 0
  const drawn = parts.map((part) => {
    const [from, wide] = [x, share(part) * width]
    x += wide
    return wide === 0 ? null : renderPiece(part, from, wide)
  })
  return html`
<svg class="bar" viewBox="0 0 ${width} 14" preserveAspectRatio="none" role="img"
 aria-label="${name}: ${parts.map(({ words }) => words).join('; ')}">${drawn}</svg>`
}

const renderPiece = ({ kind, words }: Part, from: number, wide: number): Html => html`
<rect class="pass-${kind}" x="${from.toFixed(1)}" y="0" width="${Math.max(1, wide - gap).toFixed(1)}"
 height="14"><title>${words}</title></rect>`

/** Stretched to the width of its cell; so it is drawn in units of its own, with a gap of some of them. */
const [width, gap] = [1000, 3]
