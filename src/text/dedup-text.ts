/** What is hashed to know a change again. As JSON, so that no two changes run together into the same text. */
export const dedupText = (
  tool: string,
  path: string,
  content: string | null,
  oldString: string | null,
  newString: string | null,
): string => JSON.stringify([tool, path, content, oldString, newString])
