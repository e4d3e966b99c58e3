/** Runs clean-ups in reverse order: after the test, or after the file for what a `beforeAll` has started. */
import { afterAll, afterEach, beforeEach } from '@jest/globals';

type CleanUp = () => unknown;

const ofFile: CleanUp[] = [];
const ofTest: CleanUp[] = [];
let open = ofFile;

beforeEach(() => {
  open = ofTest;
});
afterEach(async () => {
  open = ofFile;
  await run(ofTest);
});
afterAll(() => run(ofFile));

export function cleanUpLater(cleanUp: CleanUp): void {
  open.push(cleanUp);
}

export function cleanUpAfterFile(cleanUp: CleanUp): void {
  ofFile.push(cleanUp);
}

async function run(cleanUps: CleanUp[]): Promise<void> {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
}
