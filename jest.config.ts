/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';

const config: Config = {
  testEnvironment: 'node',
  // A limit on what hangs, not a measure of speed: machines are shared and slow at times.
  testTimeout: 60_000,
  // Jest leaves one core to itself otherwise: on the two of a usual build machine the suite would run alone on one.
  maxWorkers: '100%',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'es6' },
      },
    ],
  },
};

export default config;
