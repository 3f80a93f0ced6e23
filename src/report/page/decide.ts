/** The served page only: comments on lines of the plan, and the decision about it. */
import type { DecideData } from '../decide-data.ts'
import { button, element } from './dom.ts'

type TextName = 'now' | 'reviewed'
type Draft = { of: TextName; line: number; quote: string; text: string }
type Drafts = { comment: string; lines: Draft[] }

const key = 'plan-gate-drafts'
const data = JSON.parse(document.getElementById('decide-data')?.textContent ?? '') as DecideData
const drafts = readDrafts()
let isSent = false

/** What was typed survives a reload: it is kept for this tab, and placed anew where the plan has changed. */
function readDrafts(): Drafts {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? '') as Drafts
    return { comment: kept.comment, lines: kept.lines.map(placed) }
  } catch {
    return { comment: '', lines: [] }
  }
}

function saveDrafts(): void {
  try {
    if (isEmpty() || isSent) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(drafts))
  } catch {
    // It stays in the page.
  }
}

const isEmpty = (): boolean =>
  [drafts.comment, ...drafts.lines.map(({ text }) => text)].every((text) => text.trim() === '')

function linesOf(of: TextName): readonly string[] {
  return of === 'now' ? data.now : (data.reviewed?.lines ?? [])
}

/** The nearest line with the same words; line 0: there is none any more. */
function placed(draft: Draft): Draft {
  for (const of of [draft.of, 'now'] as const) {
    const found = linesOf(of).flatMap((text, index) => (text === draft.quote ? [index + 1] : []))
    const [line] = found.sort((a, b) => Math.abs(a - draft.line) - Math.abs(b - draft.line))
    if (line !== undefined) return { ...draft, of, line }
  }
  return { ...draft, line: 0 }
}

const said = element('div', { role: 'status', class: 'said' })

function say(tone: 'good' | 'bad' | 'wait', words: string, next: string): void {
  said.replaceChildren(
    element(
      'div',
      { class: `box ${tone}` },
      element('p', {}, element('strong', {}, words)),
      next === '' ? null : element('p', {}, next),
    ),
  )
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
    if (ok) return done(words)
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
function done(words: string): void {
  isSent = true
  saveDrafts()
  for (const each of document.querySelectorAll<HTMLTextAreaElement>('#decide-tool textarea')) each.readOnly = true
  for (const each of document.querySelectorAll<HTMLButtonElement>('#decide-tool button')) each.disabled = true
  say('good', words, 'You can close this page; it shows what was there before.')
}

const request = button('Request changes', () => void send('request-changes'))
const approve = button('Approve', () => void send('approve'))
approve.className = 'approve'
const buttons = data.isApproved ? [request] : [request, approve]

let toldAt = Number.NEGATIVE_INFINITY

/** The server ends when nobody asks; who writes for an hour does. */
function stayAlive(now: number): void {
  if (now - toldAt < 60_000) return
  toldAt = now
  fetch('/alive', { headers: { 'x-plan-gate-token': data.token } }).catch(() => {
    say('wait', 'The server has ended; what you write stays in this page.', `To send it: ${data.again}`)
  })
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

function commentOn(draft: Draft, remove: () => void): HTMLElement {
  const label = draft.line === 0 ? 'Comment on a line that is no more' : `Comment on line ${draft.line}`
  const area = writable(label, draft.text, (text) => {
    draft.text = text
  })
  const away = button('Remove', () => {
    drafts.lines.splice(drafts.lines.indexOf(draft), 1)
    saveDrafts()
    remove()
  })
  return element('div', { class: 'comment' }, area, away)
}

/** A row for each line; the buttons of all lines are one stop of the keyboard, and the arrows move between them. */
function drawText(of: TextName): HTMLElement {
  const body = element('tbody')
  const rows = linesOf(of).map((text, index) => {
    const line = index + 1
    const add = button(String(line), () => open(true))
    add.setAttribute('aria-label', `Comment on line ${line}`)
    add.tabIndex = index === 0 ? 0 : -1
    const row = element(
      'tr',
      {},
      element('td', { class: 'line-number' }, add),
      element('td', { class: 'line-text' }, text),
    )
    let below: HTMLElement | null = null
    const open = (isNew: boolean): void => {
      if (below === null) {
        let draft = drafts.lines.find((each) => each.of === of && each.line === line)
        if (draft === undefined) {
          draft = { of, line, quote: text, text: '' }
          drafts.lines.push(draft)
        }
        const close = (): void => {
          below?.remove()
          below = null
          add.focus()
        }
        below = element('tr', {}, element('td', { class: 'noted', colspan: 2 }, commentOn(draft, close)))
        row.after(below)
      }
      if (isNew) below.querySelector('textarea')?.focus()
    }
    return { add, row, open, line }
  })
  body.append(...rows.map(({ row }) => row))
  for (const { open, line } of rows) if (drafts.lines.some((each) => each.of === of && each.line === line)) open(false)
  body.addEventListener('keydown', ({ key: pressed, target }) => {
    const at = rows.findIndex(({ add }) => add === target)
    const next = rows[at + (pressed === 'ArrowDown' ? 1 : pressed === 'ArrowUp' ? -1 : 0)]
    if (at < 0 || next === undefined || rows[at] === next) return
    if (rows[at] !== undefined) rows[at].add.tabIndex = -1
    next.add.tabIndex = 0
    next.add.focus()
  })
  return element(
    'table',
    { class: 'diff decide-text' },
    element('caption', { class: 'unseen' }, 'The plan, line by line'),
    element('colgroup', {}, element('col', { class: 'column-number' }), element('col')),
    body,
  )
}

/** Which of the two texts is shown; comments on both are sent. */
function chooseText(place: HTMLElement): HTMLElement | null {
  if (data.reviewed === null) return null
  const select = element('select', {}, element('option', { value: 'now' }, 'docs/plan.md as it is now'))
  select.append(element('option', { value: 'reviewed' }, `Revision ${data.reviewed.revision}, reviewed last`))
  select.addEventListener('change', () => place.replaceChildren(drawText(select.value as TextName)))
  return element('p', { class: 'choices' }, element('label', {}, 'Text ', select))
}

function draw(tool: HTMLElement): void {
  if (data.hash === null) {
    tool.replaceChildren(element('p', { class: 'faint' }, 'There is no docs/plan.md to decide about.'))
    return
  }
  const place = element('div', { class: 'decide-place' }, drawText('now'))
  const lost = drafts.lines.filter(({ line }) => line === 0)
  const lostList = lost.map((draft) => {
    const item = element('li', {}, element('p', { class: 'faint' }, `On “${draft.quote}”, which is no more:`))
    item.append(commentOn(draft, () => item.remove()))
    return item
  })
  const whole = writable('On the plan as a whole', drafts.comment, (text) => {
    drafts.comment = text
  })
  tool.replaceChildren(
    element(
      'p',
      { class: 'prose' },
      data.isApproved
        ? 'The plan is approved. To request changes ends the approval. '
        : 'An approval counts for exactly this text, and is recorded as yours. ',
      'Each comment becomes a finding of yours (U1, U2 …) that holds the plan until it is settled. The number of a line opens a comment on it.',
    ),
    ...[chooseText(place)].filter((each) => each !== null),
    place,
    element('ul', { class: 'lost' }, ...lostList),
    element(
      'label',
      { class: 'whole' },
      data.isApproved ? 'On the plan as a whole' : 'On the plan as a whole, or why you approve',
      whole,
    ),
    element('p', { class: 'tools' }, ...buttons),
    said,
  )
}

const tool = document.getElementById('decide-tool')
if (tool !== null) draw(tool)
