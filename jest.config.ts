/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';
import { statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { testBundles } from './scripts/test-bundles.ts';

/**
 * `npm test` leaves these out; `npm run test:all`, `npm run verify` and CI run them. They take minutes, or they start a
 * program for each test, or several servers share a PostgreSQL database. The starts are most of the time of the suite.
 */
const LONG = [
  'test/e2e/',
  'test/integration/(acp|bridge|client|mcp-servers|web)/',
  'executor/interleavings.test',
  'http/server-program.test',
  'journal/postgres/(lost-database|postgres-ownership|wake-channel).test',
  'journal/sqlite/processes.test',
];

/**
 * A sample of them stays in `npm test`: both programs, an approval over MCP, and a kill of the server. The contract of the
 * journal stays too, on SQLite and on PostgreSQL.
 */
const SAMPLE = ['e2e/server/restart', 'integration/bridge/calls'];

/**
 * `npm run test:current-node` repeats these on a newer Node: what depends on its processes, sockets, streams, files and
 * loader, and on the native SQLite driver. One file for each such part is enough. Everything else gives the same results on
 * each version, so it runs once.
 */
const NODE_DEPENDENT = [
  'e2e/server/{abort,orphans,provider-network,restart,shutdown,streams}',
  'integration/bridge/calls',
  'integration/mcp-servers/http',
  'integration/acp/restart',
  'integration/client/a2a-client',
  'unit/a2a-server/{checkpoints,processes,runtime,tools}/**/*',
  'unit/a2a-server/journal/{*,sqlite/**/*}',
  'unit/bridge/{agents,state,transports}/**/*',
  'unit/shared/{client,net,runtime,state}/**/*',
];

/**
 * Tests wait for fsync most of all, and no test takes the power away. So their files are in memory where there is
 * room. Workers inherit the variable.
 */
const MEMORY = '/dev/shm';
if (process.env['TMPDIR'] === undefined && freeBytes(MEMORY) > 2 ** 30) process.env['TMPDIR'] = MEMORY;

/**
 * With this variable, Node reads all certificates at each start, which takes longer than the rest of an empty start. Tests
 * that need the variable set it themselves. Workers and their child processes inherit the environment.
 */
delete process.env['NODE_EXTRA_CA_CERTS'];

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

const config: Config = {
  testEnvironment: '<rootDir>/scripts/test-environment.mjs',
  // A limit on what hangs, not a measure of speed: machines are shared and slow at times.
  testTimeout: 60_000,
  // Tests wait a part of their time for processes and sockets. Two workers for each core use that time.
  maxWorkers: availableParallelism() * 2,
  testSequencer: '<rootDir>/scripts/longest-files-first.mjs',
  // Node keeps the modules of each test file that has run. With several gigabytes of them, a file takes many times as long.
  workerIdleMemoryLimit: '700MB',
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  ...(process.env['CURRENT_NODE'] === undefined
    ? { globalSetup: '<rootDir>/scripts/build-if-changed.ts' }
    : {
        globalSetup: '<rootDir>/scripts/own-bytecode.ts',
        globalTeardown: '<rootDir>/scripts/restore-bytecode.ts',
      }),
  testMatch: (process.env['CURRENT_NODE'] === undefined ? ['**/*'] : NODE_DEPENDENT).map(
    (glob) => `<rootDir>/test/${glob}.test.ts`,
  ),
  extensionsToTreatAsEsm: ['.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(process.env['CONTAINERS'] === undefined ? ['test/containers/'] : []),
    ...(process.env['QUICK'] === undefined
      ? []
      : LONG.map((path) => `^(?!.*(${SAMPLE.join('|')})).*${path}`)),
  ],
  moduleNameMapper: {
    ...testBundles,
    '^fast-check$': '<rootDir>/test/support/seeded-fast-check.ts',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript' },
          target: 'es2023',
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
};

export default config;
