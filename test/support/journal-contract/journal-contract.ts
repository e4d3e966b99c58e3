/**
 * Contract tests for every implementation of the journal port. An implementation's test file runs this suite on real
 * storage and adds its own tests.
 */
import { afterEach, beforeEach, describe } from '@jest/globals';
import { describeAppends } from './appends.ts';
import { describeCostSums } from './cost-sums.ts';
import { JournalStage, type JournalStorage } from './journal-stage.ts';
import { describeSessions } from './sessions.ts';
import { describeTaskIndex } from './task-index.ts';
import { describeWatchers } from './watchers.ts';

export function describeJournal(name: string, createStorage: () => Promise<JournalStorage>): void {
  describe(`${name} keeps the contract of a journal`, () => {
    const on = new JournalStage();
    beforeEach(async () => on.begin(await createStorage()));
    afterEach(() => on.end());

    describeAppends(on);
    describeSessions(on);
    describeTaskIndex(on);
    describeCostSums(on);
    describeWatchers(on);
  });
}
