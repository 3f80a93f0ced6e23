import type { Denial } from '../../schemas/denial.ts'
import { counted, formatCount } from '../format-values.ts'
import { type Html, html } from '../html.ts'
import type { SessionDenials } from '../report-data.ts'
import { renderTag } from './render-label.ts'
import { renderNothing, renderPart } from './render-part.ts'
import { renderInline, renderSentence } from './render-prose.ts'
import { renderTime } from './render-time.ts'

const [mostSessions, mostDenials, mostRules] = [40, 100, 20]

/** What the gate refused, session by session. The last one lies open, if it is not long. */
export function renderDenials(sessions: readonly SessionDenials[]): Html {
  const shown = sessions.slice(0, mostSessions)
  const left = sessions.slice(mostSessions)
  const denials = left.reduce((sum, session) => sum + session.denials.length, 0)
  const body = [
    ...(sessions.length === 0 ? [renderNothing('No session has been heard of.')] : []),
    ...shown.map((session, index) => renderSession(session, index === 0 && session.denials.length <= 20)),
    ...(left.length === 0
      ? []
      : [renderNothing(`${counted(left.length, 'older session')} with ${counted(denials, 'denial')} left out.`)]),
  ]
  return renderPart({ id: 'denials', title: 'Denials by session', body })
}

function renderSession(session: SessionDenials, isOpen: boolean): Html {
  const { denials } = session
  if (denials.length === 0) return html`<p class="session">${headOf(session)}</p>`
  const last = denials.slice(-mostDenials)
  const left = denials.length - last.length
  const rules = countRules(denials).map(
    ([rule, count]) => html`<li>${renderTag('plain', rule)} × ${formatCount(count)}</li>`,
  )
  return html`
<details class="session"${isOpen ? html` open` : null}><summary>${headOf(session)}</summary>
<ul class="rules" aria-label="Rules">${rules}</ul>
${left === 0 ? null : renderNothing(`The last ${last.length}; ${formatCount(left)} before them are left out.`)}
<ol>${last.map(renderDenial)}</ol></details>`
}

function headOf({
  session,
  client_version: version,
  started_at: started,
  last_seen_at: seen,
  denials,
}: SessionDenials): Html {
  const when = started === null ? null : html`${renderTime(started)} to ${renderTime(seen)}`
  return html`<span class="session-name">Session ${renderInline(session.slice(0, 8), 8)}</span>
<span class="session-count">${counted(denials.length, 'denial')}</span>
<span class="faint">${when}${version === null ? null : html` · Claude Code ${renderInline(version, 30)}`}</span>`
}

/** The most frequent first. */
function countRules(denials: readonly Denial[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const { rule } of denials) counts.set(rule, (counts.get(rule) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, mostRules)
}

const renderDenial = ({ at, tool, target, rule, reason }: Denial): Html => html`
<li class="dated">${renderTime(at)}
<div><p><strong>${renderInline(tool, 60)}</strong> <code>${renderInline(target)}</code>
${renderTag('plain', rule)}</p>
<p class="faint">${renderSentence(reason, 500)}</p></div></li>`
