/** A diff of these files with that many changed lines, shared out among them. */
export function diffOf(paths: readonly string[], lines: number): string {
  const each = paths.map((_, i) => Math.floor(lines / paths.length) + (i < lines % paths.length ? 1 : 0))
  return paths
    .map((path, i) => {
      const added = Array.from({ length: each[i] ?? 0 }, (_, line) => `+line ${line} of ${path}\n`).join('')
      return `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n@@ -0,0 +1,${each[i]} @@\n${added}`
    })
    .join('')
}
