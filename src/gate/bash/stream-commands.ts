import { checkSedScript } from './check-sed-script.ts'
import type { CommandRow, Flags } from './command-row.ts'

const about: Flags = { plain: '--help --version' }
const unlessAbout = { unless: '--help --version' }

/** Filters that agents put into pipes; DESIGN names none of them. */
export const streamCommands = [
  {
    name: 'nl',
    operands: 'files',
    readsStdin: unlessAbout,
    flags: [
      about,
      {
        plain: '-p --no-renumber',
        text: '-i --line-increment -l --join-blank-lines -v --starting-line-number -w --number-width -b --body-numbering -d --section-delimiter -f --footer-numbering -h --header-numbering -n --number-format -s --number-separator',
      },
    ],
  },
  {
    name: 'tac',
    operands: 'files',
    readsStdin: unlessAbout,
    flags: [about, { plain: '-b --before -r --regex', text: '-s --separator' }],
  },
  {
    name: 'sed',
    operands: 'files',
    firstIsProgram: { unless: '-e --expression --help --version' },
    readsStdin: unlessAbout,
    check: checkSedScript,
    flags: [
      about,
      { plain: '-n --quiet --silent -E -r --regexp-extended -z --null-data -u --unbuffered', any: '-e --expression' },
    ],
    refused: {
      '-i -I --in-place': ['changes the files', 'Leave it out: the result is printed.'],
      '-f --file': ['runs a script that the gate cannot see', "Write the script in quotes: sed -n '1,20p' <file>."],
    },
  },
] as const satisfies readonly CommandRow[]
