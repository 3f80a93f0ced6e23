import type { PageFinding } from '../page-data.ts'
import { splitCode } from '../split-code.ts'
import { element } from './element.ts'

/** A finding at its place in the plan. */
export const showNote = (finding: PageFinding): HTMLElement =>
  element(
    'div',
    { class: `note ${finding.severityTone}` },
    element(
      'p',
      { class: 'note-head' },
      element('a', { class: 'note-id', href: `#${finding.anchor}` }, finding.id),
      ' ',
      element('span', { class: `tag ${finding.severityTone}` }, finding.severity),
      ' ',
      finding.fate === '' ? null : element('span', { class: `fate ${finding.fateTone}` }, finding.fate),
    ),
    element('p', { class: 'prose', dir: 'auto' }, ...withCode(finding.problem)),
    finding.fix === '' ? null : element('p', { class: 'prose note-fix', dir: 'auto' }, ...withCode(finding.fix)),
  )

const withCode = (text: string): readonly (HTMLElement | string)[] =>
  splitCode(text).map(({ text, isCode }) => (isCode ? element('code', {}, text) : text))
