/**
 * A name or a command as it may stand in a message: one line, no terminal escapes, nothing that turns or hides text, no
 * tag that older clients would take for one of their own, not endless.
 */
export const printable = (text: string, limit = 160): string => {
  const clean = text.replace(strange, '\ufffd').replace(tagOfClient, '‹')
  return clean.length <= limit ? clean : `${clean.slice(0, limit)}…`
}

const strange =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g
const tagOfClient =
  /<(?=\/?[\w:.-]{0,40}(?:system|reminder|user|assistant|human|function|tool|command|antml|invoke|parameter|instruction|prompt|hook|notification))/gi
