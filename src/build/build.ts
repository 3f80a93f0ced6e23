import { buildReportPage } from './build-report-page.ts'
import { bundle } from './bundle.ts'
import { compileValidators } from './compile-validators.ts'

await compileValidators()
await buildReportPage()
await bundle()
