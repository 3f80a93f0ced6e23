import { button, element } from './element.ts'
import { readData } from './read-data.ts'
import { showDifference } from './show-difference.ts'

/** Any two revisions, of whatever cycle. */
export function offerComparison(place: Element): void {
  const { revisions } = readData()
  const there = revisions.flatMap(({ isThere }, index) => (isThere ? [index] : []))
  const [first, last] = [there[0], there.at(-1)]
  if (first === undefined || last === undefined || first === last) {
    place.replaceChildren(element('p', { class: 'faint' }, 'There are no two revisions to compare.'))
    return
  }
  const from = choice('From', there, first)
  const to = choice('to', there, last)
  const result = element('div', { class: 'viewer' })
  const compare = (): void => showDifference(result, Number(from.select.value), Number(to.select.value))
  for (const { select } of [from, to]) select.addEventListener('change', () => result.hasChildNodes() && compare())
  place.replaceChildren(element('p', { class: 'choices' }, from.label, to.label, button('Compare', compare)), result)
}

function choice(
  words: string,
  there: readonly number[],
  chosen: number,
): { label: HTMLElement; select: HTMLSelectElement } {
  const { revisions } = readData()
  const isOneCycle = new Set(there.map((index) => revisions[index]?.cycle)).size === 1
  const select = element(
    'select',
    {},
    ...there.map((index) => {
      const { cycle, name } = revisions[index] ?? { cycle: 0, name: '' }
      return element('option', { value: index }, isOneCycle ? name : `cycle ${cycle}, ${name}`)
    }),
  )
  select.value = String(chosen)
  return { label: element('label', {}, `${words} `, select), select }
}
