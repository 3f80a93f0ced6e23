// Loaded into a measured node before its program: at its end it leaves what it has used, and what the programs that it
// ran have used of the processor. The bytes read are counted by the kernel, the same on a busy machine as on an idle
// one; only Linux tells them, and what children took.
const fs = require('node:fs')
process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  let [read, children] = [0, 0]
  try {
    read = Number(/^rchar: (\d+)$/m.exec(fs.readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0)
    // The name of the program may hold spaces. Ticks are hundredths of a second wherever Node runs.
    const fields = fs.readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
    children = (Number(fields[13]) + Number(fields[14])) * 10_000
  } catch {}
  const used = { maxRSS, cpu: userCPUTime + systemCPUTime + children, read }
  fs.writeFileSync(process.env.LOAD_USAGE_FILE, JSON.stringify(used))
})
