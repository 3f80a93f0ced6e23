// Loaded into a measured node before its program: at its end it leaves what it has used. The bytes read are counted by
// the kernel, the same on a busy machine as on an idle one; only Linux tells them.
const fs = require('node:fs')
process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  let read = 0
  try {
    read = Number(/^rchar: (\d+)$/m.exec(fs.readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0)
  } catch {}
  fs.writeFileSync(process.env.LOAD_USAGE_FILE, JSON.stringify({ maxRSS, cpu: userCPUTime + systemCPUTime, read }))
})
