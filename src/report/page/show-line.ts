import type { Span } from '../mark-words.ts'
import { button, element } from './element.ts'

/** A line of ten thousand characters is shown whole only when somebody asks for it. */
const mostCharacters = 2_000

/** A line of a plan, with the words in it that changed. */
export function showLine(spans: readonly Span[], tag: 'span' | 'ins' | 'del'): HTMLElement {
  const length = spans.reduce((sum, { text }) => sum + text.length, 0)
  if (length <= mostCharacters) return element(tag, {}, ...spans.map(showSpan))
  const text = spans.map((span) => span.text).join('')
  const line = element(tag, {}, text.slice(0, mostCharacters))
  const more = button(`… show all ${length.toLocaleString('en')} characters`, () => {
    line.textContent = text
    line.tabIndex = -1
    line.focus()
    more.remove()
  })
  more.className = 'more'
  return element('span', {}, line, more)
}

const showSpan = ({ text, isChanged }: Span): Node =>
  isChanged ? element('b', { class: 'word' }, text) : document.createTextNode(text)
