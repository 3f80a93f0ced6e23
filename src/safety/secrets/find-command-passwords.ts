import { couldBeSecret } from './could-be-secret.ts'
import type { Found } from './found.ts'

/** Passwords on a command line, whose options do not say what they are. Group 1 is the password and ends the match. */
const commandLines = [
  /\s(?:-u|--user|--proxy-user)[ \t=]{1,3}["']?[^\s:"'`]{1,80}:([^\s"'`]{4,200})/g,
  /\bsshpass[ \t]{1,9}-p[ \t]{0,9}["']?([^\s"'`]{4,200})/g,
  /\b(?:docker|podman|skopeo|oras)[ \t]{1,9}login\b[^\n|;&]{0,200}?[ \t]-p[ \t]{1,9}["']?([^\s"'`]{4,200})/g,
  /\bredis-cli\b[^\n|;&]{0,200}?[ \t]-a[ \t]{1,9}["']?([^\s"'`]{4,200})/g,
  /\bmysql\w{0,20}\b[^\n|;&]{0,200}?[ \t]-p["']?([^\s"'`-][^\s"'`]{3,200})/g,
]

const programs = /\s(?:-u|--user|--proxy-user)[ \t=]|sshpass|\blogin\b|redis-cli|mysql/

export const findCommandPasswords = (text: string): readonly Found[] =>
  programs.test(text)
    ? commandLines.flatMap((form) =>
        Array.from(text.matchAll(form)).flatMap(({ index, 0: whole, 1: password = '' }): Found[] => {
          const end = index + whole.length
          const isSecret = /[A-Za-z]/.test(password) && couldBeSecret(password, 'password', 'literal')
          return isSecret ? [{ kind: 'password', parts: [{ start: end - password.length, end }] }] : []
        }),
      )
    : []
