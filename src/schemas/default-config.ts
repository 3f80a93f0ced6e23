import { configSchema, type EffectiveConfig } from './config.ts'
import { fillDefaults } from './fill-defaults.ts'

export const defaultConfig: EffectiveConfig = fillDefaults(configSchema, {})
