/** Whether one of the compiled patterns of `gate.tools.allow` names the tool. */
export const matchesTool = (sources: readonly string[], tool: string): boolean =>
  tool.length <= longestName && sources.some((source) => new RegExp(source).test(tool))

/** No client takes a longer one; with the length of a name grows what a pattern with three wildcards takes. */
const longestName = 128
