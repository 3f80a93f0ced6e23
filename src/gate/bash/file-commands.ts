import type { CommandRow, Flags } from './command-row.ts'

const about: Flags = { plain: '--help --version' }

/** Commands that look at files without opening them, and one that opens them to tell what they are. */
export const fileCommands = [
  {
    name: 'ls',
    operands: 'paths',
    flags: [
      about,
      {
        plain:
          '-a --all -A --almost-all -b --escape -B --ignore-backups -c -C -d --directory -D --dired -f -F -g -G --no-group --group-directories-first -h --human-readable --si -H --dereference-command-line --dereference-command-line-symlink-to-dir -i --inode -k --kibibytes -l -L --dereference -m -n --numeric-uid-gid -N --literal -o -O -e -W -p -q --hide-control-chars --show-control-chars -Q --quote-name -r --reverse -R --recursive -s --size -S -t -u -U -v -x -X -y -Z --context -1 -@ -% --author --file-type --full-time --zero --indicator-style=slash',
        optional: '--color --classify --hyperlink',
        number: '-T --tabsize -w --width',
        text: '-I --ignore --hide --block-size --format --sort --time --time-style --indicator-style --quoting-style',
      },
    ],
  },
  {
    name: 'stat',
    operands: 'paths',
    flags: [
      about,
      {
        plain: '-L --dereference -f --file-system -t --terse -x -l -r -s -n -q -F',
        text: '-c --format --printf --cached',
      },
    ],
  },
  {
    name: 'du',
    operands: 'paths',
    flags: [
      about,
      {
        plain:
          '-0 --null -a --all --apparent-size -b --bytes -c --total -D --dereference-args -H -h --human-readable --inodes -k -L --dereference -l --count-links -m -g -P --no-dereference -S --separate-dirs --si -s --summarize -x --one-file-system',
        optional: '--time',
        number: '-d --max-depth -t --threshold',
        text: '-B --block-size --exclude --time-style',
      },
    ],
  },
  {
    name: 'tree',
    operands: 'paths',
    // `tree -Io pattern out.txt` writes out.txt: -I takes the next word, and -o is read on.
    splitsClusters: true,
    needsPipe: '--fromfile',
    flags: [
      about,
      {
        plain:
          '-a -d -l -f -x -q -N -Q -p -u -g -s -h -D -F -v -t -c -U -r -i -A -S -n -C -X -J --si --du --inodes --device --dirsfirst --filesfirst --noreport --matchdirs --metafirst --ignore-case --prune --gitignore --info --nolinks --fromfile',
        number: '-L --filelimit',
        text: '-P -I -T --charset --timefmt --sort',
      },
    ],
    refused: {
      '-o': ['writes a file', 'Leave it out: the tree is printed.'],
      '-R': ['writes a 00Tree.html into directories', 'Leave it out; set the depth by -L.'],
    },
  },
  {
    name: 'file',
    operands: 'files',
    flags: [
      about,
      {
        plain:
          '-b --brief -i --mime --mime-type --mime-encoding --extension --apple -k --keep-going -L --dereference -h --no-dereference -n --no-buffer -N --no-pad -0 --print0 -r --raw -s --special-files -v -E',
        text: '-e --exclude --exclude-quiet -F --separator',
      },
    ],
    refused: {
      '-C --compile': ['writes a compiled magic file', 'Leave it out.'],
      '-m --magic-file': ['loads other magic files', 'Leave it out; the system has its own.'],
      '-f --files-from': ['reads a list of names', 'Name the files.'],
      '-z --uncompress -Z --uncompress-noreport': ['runs decompressors', 'Leave it out: the kind of archive is told.'],
      '-p --preserve-date': ['writes the access times of the files', 'Leave it out.'],
    },
  },
  { name: 'pwd', operands: 'none', flags: [about, { plain: '-L -P' }] },
  { name: 'which', operands: 'words', flags: [{ plain: '-a -s' }] },
  {
    name: 'basename',
    operands: 'words',
    flags: [about, { plain: '-a --multiple -z --zero', text: '-s --suffix' }],
  },
  { name: 'dirname', operands: 'words', flags: [about, { plain: '-z --zero' }] },
  {
    name: 'realpath',
    operands: 'paths',
    flags: [
      about,
      {
        plain:
          '-e --canonicalize-existing -m --canonicalize-missing -L --logical -P --physical -q --quiet -s --strip --no-symlinks -z --zero',
        text: '--relative-to --relative-base',
      },
    ],
  },
] as const satisfies readonly CommandRow[]
