/** Hashed to recognise a repeated change. As JSON, so that two different changes never give the same text. */
export const dedupText = (
  tool: string,
  path: string,
  content: string | null,
  oldString: string | null,
  newString: string | null,
): string => JSON.stringify([tool, path, content, oldString, newString])
