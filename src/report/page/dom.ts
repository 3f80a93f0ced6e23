type Attributes = { readonly [name: string]: string | number }
type Child = Node | string | null

/** An element of the page; of a class alone, its name says enough. Text stays text: nothing in here reads markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: string | Attributes = '',
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  const given = typeof attributes === 'string' ? { class: attributes } : attributes
  for (const [name, value] of Object.entries(given)) if (value !== '') made.setAttribute(name, String(value))
  made.append(...children.filter((child) => child !== null))
  return made
}

export function button(words: string, press: () => void, className = ''): HTMLButtonElement {
  const made = element('button', { type: 'button', class: className }, words)
  made.addEventListener('click', press)
  return made
}
