/**
 * Text of a reviewer, made harmless for whoever shows it. Older clients put what a hook says unescaped into
 * `<system-reminder>` blocks, which a closing tag in it would end; terminals obey control characters, and eyes obey
 * characters that turn or hide text.
 */
export const neutralise = (text: string): string =>
  text
    .replace(/<(\/?)(?=\s*(?:system|user|assistant|human|function|tool|command|local-command|antml)[\w-]*)/gi, '‹$1')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
    .replace(/[\p{Cf}\u115f\u1160\u3164\uffa0]/gu, '')
