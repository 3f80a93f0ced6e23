import { offerThemes } from './choose-theme.ts'
import { offerComparison } from './offer-comparison.ts'
import { openForPrint } from './open-for-print.ts'
import { showDifference } from './show-difference.ts'

/** The page is there without this; what it adds are the differences, the choice of a theme, and what paper needs. */
const changes = document.querySelectorAll<HTMLDetailsElement>('details.changes')
for (const details of changes) {
  details.addEventListener('toggle', () => draw(details))
  draw(details)
}
onPlace('theme-tool', offerThemes)
onPlace('compare-tool', offerComparison)
openForPrint()
addEventListener('hashchange', openTarget)
openTarget()

/** A difference is drawn when it is first looked at. */
function draw(details: HTMLDetailsElement): void {
  const viewer = details.querySelector('.viewer')
  if (!details.open || viewer === null || viewer.classList.contains('drawn')) return
  viewer.classList.add('drawn')
  const { before, after } = details.dataset
  showDifference(viewer, before === '' ? null : Number(before), Number(after))
}

function onPlace(id: string, act: (place: Element) => void): void {
  const place = document.getElementById(id)
  if (place !== null) act(place)
}

/** A link may lead into what is folded away. */
function openTarget(): void {
  const target = document.getElementById(location.hash.slice(1))
  const fold = target?.closest<HTMLDetailsElement>('details:not([open])')
  if (fold === null || fold === undefined) return
  fold.open = true
  target?.scrollIntoView()
}
