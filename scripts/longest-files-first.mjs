// Orders Jest's test files. The files that take minutes start first, so that no other core waits for them at the end. In a
// first run, Jest itself would start the largest files first, and the files that take minutes are small.
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/**
 * The last two are here for another reason. V8 optimizes no more regular expressions when a process has compiled many. After
 * some dozen test files, the expression for all emoji takes twenty times as long.
 */
const LONGEST = [
  'e2e/documents',
  'e2e/faults',
  'e2e/server/replicas',
  'e2e/soak',
  'executor/interleavings',
  'journal/postgres/postgres-journal',
  'shared/text/display-width',
  'shared/text/visible-text',
];

const isLong = ({ path }) => LONGEST.some((file) => path.endsWith(`/${file}.test.ts`));

export default class LongestFilesFirst extends Sequencer {
  sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- It is not the method of an array.
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
