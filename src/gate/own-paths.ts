import { ownSkills, planPath } from './place-of.ts'

const files = [planPath, '.claude/settings.json', '.claude/settings.local.json', '.claude/.gitignore']
const folders = ['.claude/review/', '.claude/hooks/plan-gate/', ...ownSkills.map((name) => `.claude/skills/${name}/`)]

/** The plan may change, and what is ours (or Claude Code's own) is compared with the install: neither is drift. */
export const isOwnPath = (path: string): boolean =>
  files.includes(path) || folders.some((folder) => path.startsWith(folder))
