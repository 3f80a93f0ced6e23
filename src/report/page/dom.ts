type Attributes = { readonly [name: string]: string | number }
type Child = Node | string | null

/** An element of the page. Text stays text: nothing in here reads markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value))
  made.append(...children.filter((child) => child !== null))
  return made
}

export function button(words: string, press: (made: HTMLButtonElement) => void): HTMLButtonElement {
  const made = element('button', { type: 'button' }, words)
  made.addEventListener('click', () => press(made))
  return made
}
