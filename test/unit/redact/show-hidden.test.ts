import { expect, it } from 'vitest'
import { showHidden } from '../../../src/report/html.ts'

it.each([
  { name: 'plain text', text: 'a\tb\nc — „ä“ 中文 עברית', shown: 'a\tb\nc — „ä“ 中文 עברית' },
  { name: 'an override', text: 'x\u202egnp.exe', shown: 'x⟨U+202E⟩gnp.exe' },
  { name: 'an isolate', text: '\u2066a\u2069', shown: '⟨U+2066⟩a⟨U+2069⟩' },
  { name: 'what has no width', text: 'pay\u200bpal\u2060\ufeff', shown: 'pay⟨U+200B⟩pal⟨U+2060⟩⟨U+FEFF⟩' },
  { name: 'text in tags', text: 'a\u{e0041}\u{e0100}', shown: 'a⟨U+E0041⟩⟨U+E0100⟩' },
  { name: 'blanks that are letters', text: 'a\u3164\u2800b', shown: 'a⟨U+3164⟩⟨U+2800⟩b' },
  { name: 'controls', text: 'a\u0000\u001b[31m\u009b\r', shown: 'a⟨U+0000⟩⟨U+001B⟩[31m⟨U+009B⟩⟨U+000D⟩' },
  { name: 'other line ends', text: 'a\u2028b\u2029c\u0085d', shown: 'a⟨U+2028⟩b⟨U+2029⟩c⟨U+0085⟩d' },
  { name: 'half a character', text: 'a\ud800b', shown: 'a⟨U+D800⟩b' },
  { name: 'the line ends of Windows', text: 'a\r\nb', shown: 'a\nb' },
  {
    name: 'the parts of an emoji',
    text: '👩\u200d💻 👨🏽\u200d🚀 ❤\ufe0f\u200d🔥',
    shown: '👩\u200d💻 👨🏽\u200d🚀 ❤\ufe0f\u200d🔥',
  },
  { name: 'a joiner with nothing to join', text: '👩\u200d a\u200db', shown: '👩⟨U+200D⟩ a⟨U+200D⟩b' },
  { name: 'a Persian word', text: 'می\u200cخواهم', shown: 'می\u200cخواهم' },
  { name: 'an Arabic mark that is no letter', text: '\u061c\u200c\u061c', shown: '⟨U+061C⟩⟨U+200C⟩⟨U+061C⟩' },
])('$name', ({ text, shown }) => {
  expect(showHidden(text)).toBe(shown)
})
