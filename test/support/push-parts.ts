/** The parts of push deliveries, for tests whose subject is another part. */
import { createHostAllowList } from '../../a2a-server/tools/web/allowed-hosts.ts';
import { createLogger } from '../../shared/runtime/logging.ts';
import { FakeClock } from './fake-clock.ts';
import { memoryRecords } from './memory-records.ts';

export const unused = (): Promise<never> => Promise.reject(new Error('no test needs this part'));

export function pushParts() {
  return {
    bodies: { ofTask: () => '', ofEntry: () => undefined },
    signer: { sign: unused },
    records: memoryRecords(),
    tasks: { row: unused, snapshot: unused, entries: unused },
    journal: { rows: () => Promise.resolve([]) },
    clock: new FakeClock(),
    log: createLogger({ name: 'test', level: 'silent' }),
    env: {},
    isRevoked: async () => false,
    fingerprintOf: () => undefined,
    addresses: { allowed: createHostAllowList(['127.0.0.1']), resolve: unused },
    shared: true,
  };
}
