import { button } from './element.ts'

const themes = ['automatic', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

const key = 'plan-gate-theme'

/** As the system has it, or as the reader wants it; remembered where the browser lets a file remember anything. */
export function offerThemes(place: Element): void {
  let theme = remembered()
  const show = (): void => {
    if (theme === 'automatic') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
    control.textContent = `Theme: ${theme}`
  }
  const control = button('', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'automatic'
    remember(theme)
    show()
  })
  control.className = 'theme'
  place.append(control)
  show()
}

function remembered(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(key)) ?? 'automatic'
  } catch {
    return 'automatic'
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(key, theme)
  } catch {
    // It counts for this visit.
  }
}
