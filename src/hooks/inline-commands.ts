import { join } from 'node:path'
import { hooksOf, type LoadedText, mayBeCalled, runsAsLoaded, takesAlong, takesSkills } from '../gate/loaded-text.ts'
import { ownSkills, type ProtectedPaths } from '../gate/place-of.ts'
import { findNestedSkills } from './find-nested-skills.ts'
import { type Looking, newLooking, readLoadedTexts } from './read-loaded-texts.ts'

export type Loaded = { readonly kind: 'skill' | 'agent'; readonly name: string }

/**
 * What runs as a skill, a custom command or an agent is loaded: commands in its text, and hooks that it sets. Every text
 * is looked at that could be meant. What is in none of the folders comes with Claude Code or with a plugin that the user
 * has installed.
 */
export function inlineCommands(house: ProtectedPaths, loaded: Loaded): readonly string[] {
  const looking = newLooking()
  const commands = loaded.kind === 'skill' ? ofSkill(house, loaded.name, looking) : ofAgent(house, loaded.name, looking)
  return looking.isCutShort ? [...commands, '(there are more files here than can be looked through)'] : commands
}

const ofSkill = (house: ProtectedPaths, name: string, looking: Looking): string[] =>
  skillsFor(house, name, looking)
    .filter((skill) => mayBeCalled(skill, name))
    .flatMap(runsAsLoaded)

/** Ours stand where they are installed, so that nobody has to look further for them. */
function skillsFor(house: ProtectedPaths, name: string, looking: Looking): LoadedText[] {
  const texts = textsIn(house, ['skills', 'commands'], looking)
  const nested = ownSkills.some((own) => own === name) ? [] : findNestedSkills(house.root.named, looking)
  return [...texts, ...nested.flatMap((folder) => readLoadedTexts(folder, looking))]
}

function ofAgent(house: ProtectedPaths, name: string, looking: Looking): string[] {
  // Without a name it is Claude Code's choice.
  const agents = textsIn(house, ['agents'], looking).filter((agent) => name === '' || mayBeCalled(agent, name))
  const taking = agents.filter(takesSkills)
  const skills = taking.length === 0 ? [] : skillsFor(house, '', looking)
  return [
    ...agents.flatMap(hooksOf),
    ...skills.filter((skill) => taking.some((agent) => takesAlong(agent, skill))).flatMap(runsAsLoaded),
  ]
}

function textsIn(house: ProtectedPaths, folders: readonly string[], looking: Looking): LoadedText[] {
  const roots = [house.root.named, ...house.mergedRoots].map((root) => join(root, '.claude'))
  return [...roots, ...house.userDirs].flatMap((root) =>
    folders.flatMap((folder) => readLoadedTexts(join(root, folder), looking)),
  )
}
