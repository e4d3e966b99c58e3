// Orders Jest's test files. The files that take minutes start first, so that no other core waits for them at the end. In a
// first run, Jest itself would start the largest files first, and the files that take minutes are small.
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/**
 * The files that start first, in this order. The first two take seconds only in a new worker. In a process that has
 * compiled many regular expressions, V8 no longer optimizes them, and the one for all emoji takes twenty times as long.
 */
const FIRST = [
  'shared/text/display-width',
  'shared/text/visible-text',
  'e2e/faults',
  'e2e/server/replicas',
  'e2e/documents',
  'e2e/soak',
  'journal/postgres/postgres-journal',
  'executor/interleavings',
];

function placeOf({ path }) {
  const place = FIRST.findIndex((file) => path.endsWith(`/${file}.test.ts`));
  return place === -1 ? FIRST.length : place;
}

export default class LongestFilesFirst extends Sequencer {
  sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- It is not the method of an array.
    return super.sort(tests).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
