// Orders Jest's test files. The files that take minutes start first, so that no other core waits for them at the end. In a
// first run, Jest itself would start the largest files first, and the files that take minutes are small.
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/**
 * In this order. The first two take seconds only in a new worker: V8 optimizes no more regular expressions when a process has
 * compiled many, and the one for all emoji then takes twenty times as long.
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
