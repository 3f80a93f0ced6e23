/** Whether one of the compiled patterns of `gate.tools.allow` names the tool. */
export const matchesTool = (sources: readonly string[], tool: string): boolean =>
  sources.some((source) => new RegExp(source).test(tool))
