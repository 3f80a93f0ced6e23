import { basename, dirname, resolve } from 'node:path'
import { findApproval } from '../../plan/find-approval.ts'
import type { Approval } from '../../schemas/approval.ts'
import validate from '../../schemas/generated/approval.js'
import type { VerifyOutput } from '../../schemas/output/verify.ts'
import { readEvents } from '../../store/read-events.ts'
import { type JsonRead, readJson } from '../../store/read-json.ts'
import { readRegular } from '../../store/read-regular.ts'
import { sha256 } from '../../store/sha256.ts'
import { verifyLedger } from '../../store/verify-ledger.ts'
import { UserError } from '../../system/user-error.ts'
import type { Check } from '../check-record.ts'
import { checkScope } from './check-scope.ts'

export type Files = {
  plan: string
  approval: string
  ledger: string | null
  /** Whether an approval by hand will do. */
  manualWillDo: boolean
  base: string | null
  strictScope: boolean
}

/** Whether a plan is approved, from nothing but files: no installation, no git unless a change is to be looked at. */
export async function checkFiles(files: Files): Promise<VerifyOutput> {
  const plan = bytesOf('plan', files.plan)
  const planHash = sha256(plan)
  const approval = approvalIn(files.approval)
  if (approval === null) {
    const checks = [failing('approval', `there is none: ${files.approval} does not exist`)]
    return { holds: false, checks, plan_hash: planHash }
  }
  const ledger = files.ledger === null ? null : checkLedger(files.ledger, approval, planHash)
  // What is on record weighs more than what a file says of itself.
  const route = ledger?.route ?? routeOf(approval)
  const scope = files.base === null ? null : await checkScope(plan.toString('utf8'), files, files.base)
  const checks = [
    checkHash(approval, planHash, plan),
    checkWho(approval, route, files.manualWillDo),
    ...(ledger === null ? [] : [ledger.check]),
    ...(scope === null ? [] : [scope.check]),
  ]
  return {
    holds: checks.every(({ holds }) => holds),
    checks,
    plan_hash: planHash,
    manual: route === 'manual',
    ...(scope === null ? {} : { out_of_scope: scope.outside }),
  }
}

const holding = (name: string, detail: string): Check => ({ name, holds: true, detail })
const failing = (name: string, detail: string): Check => ({ name, holds: false, detail })

function bytesOf(flag: string, file: string): Buffer {
  const read = readRegular(...placeOf(file), 64 * 1024 * 1024)
  if (read.kind === 'read') return read.bytes
  throw unusable(flag, file, read.kind === 'absent' ? 'it does not exist' : read.why)
}

const placeOf = (file: string): [root: string, path: string] => [dirname(resolve(file)), basename(file)]

const unusable = (flag: string, file: string, why: string): UserError =>
  new UserError(`--${flag} ${file} cannot be used: ${why}.`, `Give the file itself with --${flag}.`)

function approvalIn(file: string): Approval | null {
  const read: JsonRead<Approval> = readJson(...placeOf(file), validate, 64 * 1024)
  if (read.kind === 'refused') throw unusable('approval', file, read.why)
  return read.kind === 'absent' ? null : read.value
}

function checkHash({ is_optimal, plan_hash }: Approval, planHash: string, plan: Buffer): Check {
  if (is_optimal !== true) return failing('plan', 'the approval says is_optimal: false')
  if (plan_hash === planHash) return holding('plan', `it is the text that was approved (${planHash.slice(0, 12)})`)
  const unix = Buffer.from(plan.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
  const hint =
    sha256(unix) === plan_hash ? '; only its line ends differ: keep git from changing them (.gitattributes: -text)' : ''
  return failing('plan', `it is ${planHash.slice(0, 12)}, and ${plan_hash.slice(0, 12)} was approved${hint}`)
}

/** Only reviews write a route. */
const routeOf = ({ route }: Approval): string => route ?? 'manual'

function checkWho({ review_version, approved_at }: Approval, route: string, manualWillDo: boolean): Check {
  const when = typeof approved_at === 'string' ? `, ${approved_at}` : ''
  const revision = typeof review_version === 'number' ? `, revision ${review_version}` : ''
  if (route !== 'manual') return holding('approval', `by ${route}${revision}${when}`)
  return manualWillDo
    ? holding('approval', `by hand${when}`)
    : failing('approval', `by hand${when}; --no-manual asks for a reviewer’s`)
}

type LedgerCheck = { check: Check; route: string | null }

function checkLedger(file: string, approval: Approval, planHash: string): LedgerCheck {
  const place = placeOf(file)
  const chain = verifyLedger(...place)
  const fails = (why: string): LedgerCheck => ({ check: failing('ledger', why), route: null })
  switch (chain.kind) {
    case 'absent':
      return fails(`there is none: ${file} does not exist`)
    case 'refused':
      throw unusable('ledger', file, chain.why)
    case 'broken':
      return fails(`line ${chain.line}: ${chain.why}`)
    case 'intact':
  }
  const read = readEvents(...place)
  const events = read.kind === 'read' ? read.events : []
  const { ledger_head: head } = approval as { ledger_head?: unknown }
  const hashes = [...events.map(({ prev }) => prev), chain.head]
  if (typeof head === 'string' && !hashes.includes(head)) return fails('it is not the one that the approval comes from')
  const known = findApproval(events, planHash)
  switch (known.kind) {
    case 'none':
      return fails('it knows of no approval of this text')
    case 'ended':
      return fails('the approval of this text was revoked')
    case 'by-hand':
    case 'by': {
      const route = known.kind === 'by' ? known.route : 'manual'
      const said = routeOf(approval)
      if (said !== 'manual' && said !== route) return fails(`it says ${route}, and the approval says ${said}`)
      return {
        check: holding('ledger', `${chain.events} events; approved ${route === 'manual' ? 'by hand' : `by ${route}`}`),
        route,
      }
    }
  }
}
