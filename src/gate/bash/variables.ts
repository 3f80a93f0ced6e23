import { type Refusal, refuse } from './refusal.ts'

/** What a command line finds in its shell. */
export type Shell = {
  /** What `~` and `$HOME` stand for. */
  readonly home: string | undefined
  /** The names of the variables that programs see. */
  readonly environment: readonly string[]
}

/** Names that shells and programs give no meaning. */
const lowerCase = /^[a-z][a-z0-9_]{0,30}$/
const upperCase =
  /^(?:[A-Z]|(?:BASE|DIR|DIRS|DOC|DOCS|FILE|FILES|LOG|NAME|PATTERN|PKG|PROJECT|REPO|ROOT|SRC|TARGET|TEST|WT)(?:_(?:DIR|FILE|NAME|PATH|ROOT))?)$/
/** Those of zsh; each is another name of something that the shell obeys. */
const special =
  /^(?:aliases|argv|auto_resume|builtins|cdpath|commands|compstate|dirstack|epochtime|dis_\w+|errnos|fignore|fpath|func\w+|galiases|hist\w+|jobdirs|jobstates|jobtexts|keymaps|killring|langinfo|mailpath|manpath|mapfile|match|mbegin|mend|module_path|modules|nameddirs|options|parameters|patchars|path|pipestatus|prompt|psvar|region_\w+|reply|reswords|saliases|signals|status|sys\w+|term\w+|userdirs|usergroups|watch|widgets|zle\w*|zsh\w*|\w+_(?:functions|proxy))$/

/** A variable is a constant of the line only if nobody else reads it. */
export const variableRefusal = (name: string, text: string, { environment }: Shell): Refusal | undefined =>
  (lowerCase.test(name) || upperCase.test(name)) && !special.test(name) && !environment.includes(name)
    ? undefined
    : refuse(
        'assignment',
        text,
        `sets ${name}, which a shell or a program may obey`,
        'Use a short name of your own in lower case, such as f or dir, or write the value itself.',
      )
