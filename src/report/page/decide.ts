/** The served page only: comments on lines of the plan, and the decision about it. */
import type { DecideData } from '../page-data.ts'
import { button, element } from './dom.ts'

type TextName = 'now' | 'reviewed'

/** `line` 0: there is no such line any more. */
type Draft = { of: TextName; line: number; quote: string; text: string }
type Drafts = { comment: string; lines: Draft[] }

const key = 'plan-gate-drafts'
const data = JSON.parse(document.getElementById('decide-data')?.textContent ?? '') as DecideData
const tool = document.getElementById('decide-tool')
const drafts = readDrafts()
let isSent = false

const said = element('div', { role: 'status', class: 'said' })
const request = button('Request changes', () => void send('request-changes'))
const approve = button('Approve', () => void send('approve'), 'approve good')
const buttons = data.isApproved ? [request] : [request, approve]

function draw(): void {
  if (data.hash === null)
    return tool?.replaceChildren(element('p', 'faint', 'There is no docs/plan.md to decide about.'))
  const place = element('div', 'decide-place card', drawText('now'))
  const whole = writable('On the plan as a whole', drafts.comment, (text) => {
    drafts.comment = text
  })
  const effect = data.isApproved
    ? 'The plan is approved. To request changes ends the approval. '
    : 'An approval counts for exactly this text, and is recorded as yours. '
  const rules =
    'Each comment becomes a finding of yours (U1, U2 …) that holds the plan until it is settled. The number of a line opens a comment on it.'
  const lost = drafts.lines.filter(({ line }) => line === 0)
  tool?.replaceChildren(
    element('p', 'prose', effect, rules),
    ...chooseText(place),
    place,
    element('ul', 'lost', ...lost.map(drawLost)),
    element('label', 'whole', `On the plan as a whole${data.isApproved ? '' : ', or why you approve'}`, whole),
    element('p', 'tools row', ...buttons),
    said,
  )
}

/** Which of the two texts is shown; comments on both are sent. */
function chooseText(place: HTMLElement): readonly HTMLElement[] {
  if (data.reviewed === null) return []
  const reviewed = `Revision ${data.reviewed.revision}, reviewed last`
  const select = element(
    'select',
    '',
    element('option', { value: 'now' }, 'docs/plan.md as it is now'),
    element('option', { value: 'reviewed' }, reviewed),
  )
  select.addEventListener('change', () => place.replaceChildren(drawText(select.value as TextName)))
  return [element('p', 'choices row', element('label', '', 'Text ', select))]
}

/** A row for each line; the buttons of all lines are one stop of the keyboard, and the arrows move between them. */
function drawText(of: TextName): HTMLElement {
  const lines = linesOf(of).map((text, index) => drawLine(of, text, index + 1))
  const body = element('tbody', '', ...lines.map(({ row }) => row))
  for (const { openIfWritten } of lines) openIfWritten()
  body.addEventListener('keydown', ({ key: pressed, target }) => {
    const at = lines.findIndex(({ number }) => number === target)
    const next = lines[at + (pressed === 'ArrowDown' ? 1 : pressed === 'ArrowUp' ? -1 : 0)]
    const now = lines[at]
    if (now === undefined || next === undefined || now === next) return
    now.number.tabIndex = -1
    next.number.tabIndex = 0
    next.number.focus()
  })
  return element(
    'table',
    'diff decide-text',
    element('caption', 'unseen', 'The plan, line by line'),
    element('colgroup', '', element('col', 'column-number'), element('col')),
    body,
  )
}

function drawLine(of: TextName, quote: string, line: number) {
  const number = button(String(line), () => {
    open()
    below?.querySelector('textarea')?.focus()
  })
  number.setAttribute('aria-label', `Comment on line ${line}`)
  number.tabIndex = line === 1 ? 0 : -1
  const row = element('tr', '', element('td', 'line-number', number), element('td', 'line-text', quote))
  let below: HTMLElement | null = null
  const written = (): Draft | undefined => drafts.lines.find((each) => each.of === of && each.line === line)
  const open = (): void => {
    if (below !== null) return
    const draft = written() ?? { of, line, quote, text: '' }
    if (!drafts.lines.includes(draft)) drafts.lines.push(draft)
    const comment = drawComment(draft, () => {
      below?.remove()
      below = null
      number.focus()
    })
    below = element('tr', '', element('td', { class: 'noted', colspan: 2 }, comment))
    row.after(below)
  }
  const openIfWritten = (): void => {
    if (written() !== undefined) open()
  }
  return { number, row, openIfWritten }
}

function drawLost(draft: Draft): HTMLElement {
  const item = element('li', '', element('p', 'faint', `On “${draft.quote}”, which is no more:`))
  item.append(drawComment(draft, () => item.remove()))
  return item
}

function drawComment(draft: Draft, remove: () => void): HTMLElement {
  const label = draft.line === 0 ? 'Comment on a line that is no more' : `Comment on line ${draft.line}`
  const area = writable(label, draft.text, (text) => {
    draft.text = text
  })
  const away = button('Remove', () => {
    drafts.lines.splice(drafts.lines.indexOf(draft), 1)
    saveDrafts()
    remove()
  })
  return element('div', 'comment beside', area, away)
}

function writable(label: string, text: string, change: (text: string) => void): HTMLTextAreaElement {
  const area = element('textarea', { rows: 3, 'aria-label': label })
  area.value = text
  area.addEventListener('input', ({ timeStamp }) => {
    change(area.value)
    saveDrafts()
    stayAlive(timeStamp)
  })
  return area
}

let toldAt = Number.NEGATIVE_INFINITY

/** The server ends when nobody asks; who writes for an hour does. */
function stayAlive(now: number): void {
  if (now - toldAt < 60_000) return
  toldAt = now
  fetch('/alive', { headers: { 'x-plan-gate-token': data.token } }).catch(() => {
    say('wait', 'The server has ended; what you write stays in this page.', `To send it: ${data.again}`)
  })
}

function say(tone: 'good' | 'bad' | 'wait', words: string, next: string): void {
  const strong = element('p', '', element('strong', '', words))
  said.replaceChildren(element('div', `box ${tone}`, strong, next === '' ? null : element('p', '', next)))
}

async function send(decision: 'approve' | 'request-changes'): Promise<void> {
  const written = drafts.lines.filter(({ text }) => text.trim() !== '')
  if (decision === 'approve' && written.length > 0)
    return say(
      'wait',
      'An approval carries no comments on lines: nobody would have to settle them.',
      'Remove them, or request changes.',
    )
  if (decision === 'request-changes' && isEmpty())
    return say('wait', 'There is no comment yet.', 'Say what has to change: on a line, or on the plan as a whole.')
  for (const each of buttons) each.disabled = true
  say('wait', 'Sending…', '')
  try {
    const response = await fetch('/decision', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-plan-gate-token': data.token },
      body: JSON.stringify({
        decision,
        plan_hash: data.hash,
        revision: data.reviewed?.revision ?? null,
        comment: drafts.comment,
        comments: written.map(({ of, line, quote, text }) => ({ of: line === 0 ? 'lost' : of, line, quote, text })),
      }),
    })
    const { ok, words, next } = (await response.json()) as { ok: boolean; words: string; next: string }
    if (ok) return end(words)
    say('bad', words, next)
  } catch {
    say(
      'bad',
      'The server does not answer: it has ended, so nothing was recorded.',
      `Copy what you have written, run ${data.again} again, and paste it there.`,
    )
  }
  for (const each of buttons) each.disabled = false
}

/** The server has ended with it. */
function end(words: string): void {
  isSent = true
  saveDrafts()
  for (const each of tool?.querySelectorAll('textarea') ?? []) each.readOnly = true
  for (const each of tool?.querySelectorAll('button') ?? []) each.disabled = true
  say('good', words, 'You can close this page; it shows what was there before.')
}

/** What was typed survives a reload: it is kept for this tab, and placed anew where the plan has changed. */
function readDrafts(): Drafts {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? '') as Drafts
    return { comment: kept.comment, lines: kept.lines.map(placed) }
  } catch {
    return { comment: '', lines: [] }
  }
}

function placed(draft: Draft): Draft {
  for (const of of [draft.of, 'now'] as const) {
    const found = linesOf(of).flatMap((text, index) => (text === draft.quote ? [index + 1] : []))
    const [line] = found.sort((a, b) => Math.abs(a - draft.line) - Math.abs(b - draft.line))
    if (line !== undefined) return { ...draft, of, line }
  }
  return { ...draft, line: 0 }
}

function linesOf(of: TextName): readonly string[] {
  return of === 'now' ? data.now : (data.reviewed?.lines ?? [])
}

function saveDrafts(): void {
  try {
    if (isEmpty() || isSent) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(drafts))
  } catch {
    // It stays in the page.
  }
}

function isEmpty(): boolean {
  return [drafts.comment, ...drafts.lines.map(({ text }) => text)].every((text) => text.trim() === '')
}

draw()
