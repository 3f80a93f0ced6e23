/** Whether one of the compiled patterns of `gate.tools.allow` names the tool. No tool has a longer name than the API takes. */
export const matchesTool = (sources: readonly string[], tool: string): boolean =>
  tool.length <= longestName && sources.some((source) => new RegExp(source).test(tool))

const longestName = 128
