/** A fault that somebody could make on a tired day: one place of one file says something else. */
export type Mutant = {
  readonly file: string
  readonly find: string
  readonly replace: string
  /** What whoever made it was thinking. */
  readonly why: string
}

export const mutants: readonly Mutant[] = [
  {
    file: 'src/gate/bash/commands.ts',
    find: '--stop-on-nonmatch -V -h',
    replace: '--stop-on-nonmatch -V -h -z --search-zip',
    why: 'to search in archives is only to search',
  },
  {
    file: 'src/gate/bash/git.ts',
    find: '--no-ext-diff --no-textconv --submodule=log',
    replace: '--no-ext-diff --no-textconv --textconv --submodule=log',
    why: 'a plain diff converts as well, so the flag changes nothing',
  },
  {
    file: 'src/gate/bash/git.ts',
    find: "const listing = '-l --list --contains",
    replace: "const listing = '-l --list -v --verbose --contains",
    why: 'git branch -v lists',
  },
  {
    file: 'src/gate/bash/commands.ts',
    find: "text: '-k --key -t --field-separator --sort',",
    replace: "text: '-k --key -t --field-separator --sort -S --buffer-size',",
    why: 'a buffer is memory and no file',
  },
  {
    file: 'src/gate/bash/commands.ts',
    find: 'if (late !== undefined)',
    replace: 'if (late !== undefined && output !== undefined)',
    why: 'flags behind the file are usual, and GNU takes them',
  },
  {
    file: 'src/gate/bash/parse.ts',
    find: '|<[ \\t]*\\/dev\\/null)$/',
    replace: '|<[ \\t]*\\/dev\\/null)/',
    why: 'something harmless may follow',
  },
  {
    file: 'src/gate/bash/parse.ts',
    find: "if (source[end] === '|' && (source[end - 1] ?? '') > '\\u007f')",
    replace: "if (source.startsWith('||', end) && (source[end - 1] ?? '') > '\\u007f')",
    why: 'nobody uses GBK any more',
  },
  {
    file: 'src/gate/bash/words.ts',
    find: 'const otherDollar = /\\$(?![ \\t\\n"%&\'),./:;<>\\\\\\]|}]|$)/',
    replace: 'const otherDollar = /\\$[\\w({]/',
    why: 'a $ means something before a name and a bracket',
  },
  {
    file: 'src/gate/bash/words.ts',
    find: `isFirst &&= part.text === "''" || part.text === '""'`,
    replace: 'isFirst = false',
    why: 'behind the first part a word has begun',
  },
  {
    file: 'src/gate/bash/check-command.ts',
    find: 'if (isUnclear || movesShell.includes(name) || !isAllowedByConfig(part, policy.allowed)) throw refusal\n',
    replace: "if (name === 'cd' || !isAllowedByConfig(part, policy.allowed)) throw refusal\n  return\n",
    why: 'what the user allows is allowed',
  },
  {
    file: 'src/gate/bash/check-command.ts',
    find: "const globalFlags = ['--no-pager', '-P',",
    replace: "const globalFlags = ['--no-pager', '-P', '--paginate', '-p',",
    why: 'the pair of --no-pager was missing',
  },
  {
    file: 'src/gate/bash/languages.ts',
    find: '  if (actionOf(value) !== undefined) refuseTest(value)\n',
    replace: '',
    why: 'the next check refuses what looks like a test anyway',
  },
  {
    file: 'src/gate/bash/languages.ts',
    find: '[gpI0-9]{0,5}`',
    replace: '[gpImMe0-9]{0,5}`',
    why: 'the flags of s are g, p, i, m, e and a number',
  },
  {
    file: 'src/gate/bash/git.ts',
    find: "key?.includes('.')",
    replace: 'key !== undefined',
    why: 'with --get there is nothing that writes',
  },
  {
    file: 'src/gate/bash/check-command.ts',
    find: 'const bareWord = /^[A-Za-z0-9_@%+,./:-]',
    replace: 'const bareWord = /^[A-Za-z0-9_@%+,./:=-]',
    why: 'the two character classes should be the same',
  },
  {
    file: 'src/gate/bash/row.ts',
    find: "(kind === 'optional' || row.splitsClusters ? !/^[\\d.,%/]+$/.test(rest) : false)",
    replace: "(kind === 'optional' && !/^[\\d.,%/]+$/.test(rest))",
    why: 'only an optional value has to be digits',
  },
  {
    file: 'src/gate/bash/row.ts',
    find: 'const signature = /%[-+ ]?G|',
    replace: 'const signature = /%G|',
    why: 'no placeholder has a sign in it',
  },
  {
    file: 'src/gate/bash/row.ts',
    find: "    if (name === '..' && names.pop() === undefined) above += 1\n    else if",
    replace: "    if (name === '..') above += 1\n    else if",
    why: 'simpler: count the steps up',
  },
  {
    file: 'src/gate/bash/parse.ts',
    find: '\\u2028-\\u202e',
    replace: '\\u202a-\\u202e',
    why: 'only what changes the direction is dangerous to read',
  },
  {
    file: 'src/gate/bash/parse.ts',
    find: "if (node.operators.includes('|&'))",
    replace: "if (node.operators.every((operator) => operator === '|&') && node.operators.length > 1)",
    why: '|& is a pipe like the other one',
  },
  {
    file: 'src/gate/bash/languages.ts',
    find: 'String.raw`[^\\\\[\\];',
    replace: 'String.raw`[^\\\\;',
    why: 'a bracket in a pattern writes nothing',
  },
  {
    file: 'src/gate/bash/check-command.ts',
    find: 'locations = [...locations, ...changeDirectory(',
    replace: 'locations = [...changeDirectory(',
    why: 'after a cd the shell is there',
  },
  {
    file: 'src/gate/bash/words.ts',
    find: '!piece.isQuoted && !plainValue.test(value.text)',
    replace: '!piece.isQuoted && !value.isPattern && !plainValue.test(value.text)',
    why: 'a pattern from a loop is one name at a time',
  },
  {
    file: 'src/gate/bash/parse.ts',
    find: "if (node.kind === 'loop') for (const name of namesIn([node])) variables.delete(name)\n",
    replace: '',
    why: 'after a loop its variable has the last value',
  },
  {
    file: 'src/gate/bash/languages.ts',
    find: "const starts = ['basename',",
    replace: "const starts = ['basename', 'sort',",
    why: 'sort reads files like ls',
  },
  {
    file: 'src/gate/bash/languages.ts',
    find: "lister.test(source.join(' ')) && source",
    replace: 'source',
    why: 'what a command prints are names of files',
  },
  {
    file: 'src/gate/bash/words.ts',
    find: '!(/[A-Z]/.test(name) || environment.includes(name))',
    replace: '!/[A-Z]/.test(name)',
    why: 'variables of the environment are in capitals',
  },
  {
    file: 'src/gate/bash/row.ts',
    find: "ofKernel.test(real) || !(isOrdinary || real === '/dev/null')",
    replace: 'ofKernel.test(real)',
    why: 'what can be read has an end',
  },
  { file: 'src/gate/bash/git.ts', find: "sortKey: '--sort',", replace: "any: '--sort',", why: 'sorting only reads' },
  {
    file: 'src/gate/protected-paths.ts',
    find: 'const part = controlPlanePart(target.path, paths) ?? controlPlanePart(target.real, paths)',
    replace: 'const part = controlPlanePart(target.real, paths)',
    why: 'where the write really lands is what counts',
  },
  {
    file: 'src/gate/protected-paths.ts',
    find: '    .toUpperCase()\n    .toLowerCase()',
    replace: '    .toLowerCase()',
    why: 'to lower case is enough',
  },
  {
    file: 'src/gate/tools.ts',
    find: "  MultiEdit: 'file_path',\n",
    replace: '',
    why: 'Claude Code has no MultiEdit any more',
  },
  {
    file: 'src/gate/decide.ts',
    find: "plan.kind === 'approved' && configProblems.length === 0\n\n/**",
    replace: "plan.kind === 'approved' || configProblems.length < 0\n\n/**",
    why: 'an approved plan may be carried out, whatever the configuration says',
  },
  {
    file: 'src/gate/decide.ts',
    find: "if (call.tool === 'PowerShell' || isGateOpen(context) ||",
    replace: 'if (isGateOpen(context) ||',
    why: 'PowerShell’s ls is as harmless as another',
  },
  {
    file: 'src/gate/scope.ts',
    find: "pattern.endsWith('/') ? pattern : `${pattern}/`)",
    replace: 'pattern)',
    why: 'a folder may be written with or without its slash',
  },
  {
    file: 'src/gate/working-tree.ts',
    find: 'before.hooks[path] === digest ?',
    replace: 'Object.hasOwn(before.hooks, path) ?',
    why: 'only new hooks are new',
  },
  {
    file: 'src/gate/working-tree.ts',
    find: 'if (before?.status === now?.status && before?.digest === now?.digest) return []',
    replace: 'if (before?.status === now?.status) return []',
    why: 'git says whether a file has changed',
  },
  {
    file: 'src/schemas/hook-answer.ts',
    find: '  stderr: reason,\n  exitCode: 2,\n})\n\n/** The user is asked',
    replace: '  exitCode: 0,\n})\n\n/** The user is asked',
    why: 'the JSON says it all, as the documentation has it',
  },
  {
    file: 'src/install/settings.ts',
    find: '      keepsOwnHooks(installed, settings) &&\n',
    replace: '',
    why: 'that all of ours are there is enough',
  },
  {
    file: 'src/state/files.ts',
    find: '\n  lstatSync,\n',
    replace: '\n  statSync as lstatSync,\n',
    why: 'people keep .claude behind a link',
  },
  {
    file: 'src/hooks/pre-tool-use.ts',
    find: 'classifyRealPath(resolve(event.cwd ?? root, path), paths)',
    replace: 'classifyRealPath(resolve(root, path), paths)',
    why: 'the cwd moves, so it is never asked',
  },
  {
    file: 'src/gate/check-commands.ts',
    find: '/\\bgit\\b/.test(command.slice(0, 10_000))',
    replace: "command.startsWith('git ')",
    why: 'a command that is git begins with git',
  },
  {
    file: 'src/gate/sandbox/rules.ts',
    find: "if (!has('proven'))",
    replace: 'if (false)',
    why: 'the install has proven the sandbox',
  },
  {
    file: 'src/gate/sandbox/rules.ts',
    find: 'if (env.CLAUDE_CODE_SHELL_PREFIX !== wrapperPath(gitDir))',
    replace: 'if (env.CLAUDE_CODE_SHELL_PREFIX === undefined)',
    why: 'the client has a prefix',
  },
]
