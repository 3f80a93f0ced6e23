/** What may stand in an expression of `find`, by what follows it. All else writes, runs something or is unknown. */
export const findWords = {
  alone:
    '( ) ! , -not -a -and -o -or -depth -xdev -mount -daystart -follow -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race -empty -true -false -nouser -nogroup -readable -writable -executable -print -print0 -ls -prune -quit',
  withValue:
    '-maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -path -perm -regex -samefile -size -type -uid -used -user -wholename -xtype -printf',
} as const

/** `-newermt 2026-01-01`: which time of the file is compared with which time. */
export const newerThan = /^-newer[aBcm][aBcmt]$/

/** They change the tree, run programs, or read names from elsewhere. */
export const findActions: { readonly [words: string]: string } = {
  '-delete -rm': 'deletes files',
  '-exec -execdir -ok -okdir': 'runs a program',
  '-fprint -fprint0 -fprintf -fls': 'writes a file',
  '-files0-from': 'reads a list of names',
}
