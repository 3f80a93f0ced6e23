import { expect, it } from 'vitest'
import { html } from '../../../src/report/html.ts'

it.each([
  { hole: '<script>alert(1)</script>', made: '&lt;script&gt;alert(1)&lt;/script&gt;' },
  { hole: '"><img src=x onerror=alert(1)>', made: '&quot;&gt;&lt;img src=x onerror=alert(1)&gt;' },
  { hole: "' onfocus='alert(1)", made: '&#39; onfocus=&#39;alert(1)' },
  { hole: '&lt;b&gt;', made: '&amp;lt;b&amp;gt;' },
  { hole: 'a\u202eb', made: 'a⟨U+202E⟩b' },
  { hole: 12, made: '12' },
  { hole: null, made: '' },
  { hole: ['<', html`<b>${'>'}</b>`, [1, null]], made: '&lt;<b>&gt;</b>1' },
])('$hole', ({ hole, made }) => {
  expect(html`<p title="${hole}">${hole}</p>`.html).toBe(`<p title="${made}">${made}</p>`)
})
