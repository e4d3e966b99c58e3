import { describe, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { Outbox } from '../../../../bridge/state/outbox.ts';
import { endedProcessId, openDatabase } from '../../../support/bridge-database.ts';
import { bundleProgram } from '../../../../scripts/bundle-program.mjs';
import { outboxEntry } from '../../../support/outbox-entry.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

jest.setTimeout(120_000);

const got = z.object({ claimed: z.array(z.string()), adopted: z.array(z.string()) });
const QUESTIONS = 200;

describe('bridges of one user, each in its own process', () => {
  test('E2 B3 if the bridges compete for claims and an ended process’s entries, exactly one bridge gets each of them', async () => {
    const state = await temporaryDirectory();
    const left = new Outbox(await openDatabase(state, await endedProcessId()));
    const ids = Array.from({ length: 20 }, (_, at) => `m-${String(at)}`);
    for (const messageId of ids) left.put(outboxEntry(messageId, { agent: 'a' }));
    const program = await bundleProgram('test/support/racing-bridge.ts', { withPackages: true });
    const ran = await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        promisify(execFile)(process.execPath, [program, state, name, String(QUESTIONS)]),
      ),
    );
    const results = ran.map(({ stdout }) => got.parse(JSON.parse(stdout)));
    const claimed = results.flatMap((each) => each.claimed);
    expect(claimed).toHaveLength(QUESTIONS);
    expect(new Set(claimed).size).toBe(QUESTIONS);
    // Each process takes over the entries of the previous one. So the last process has all entries.
    const last = new Outbox(await openDatabase(state));
    await last.takeOverOrphaned();
    expect(
      last
        .open()
        .map(({ messageId }) => messageId)
        .toSorted(),
    ).toEqual(ids.toSorted());
    expect(results.flatMap((each) => each.adopted).length).toBeGreaterThanOrEqual(ids.length);
  });
});
