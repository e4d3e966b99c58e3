import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Check } from './job.ts';
import { judge, type Outcome } from './judge.ts';

describe('the judge of a job', () => {
  let workspace: string;
  const outcome = (more: Partial<Outcome> = {}): Outcome => ({
    workspace,
    said: 'All is Well',
    asked: ['/a'],
    decisions: 1,
    ...more,
  });

  beforeEach(async () => {
    workspace = await mkdtemp(join(tmpdir(), 'judge-'));
    await writeFile(join(workspace, 'a.txt'), 'one two\n');
  });
  afterEach(() => rm(workspace, { recursive: true, force: true }));

  const held: Check[] = [
    { file: 'a.txt', is: 'one two\n', has: ['one'], hasNot: ['three'] },
    { absent: 'b.txt' },
    { command: 'grep -q two a.txt' },
    { says: 'is w.ll' },
    { asked: ['/a'] },
    { notAsked: ['/b'] },
    { decisions: 1 },
  ];

  test('the judge returns nothing if all checks pass', async () => {
    expect(await judge(held, outcome())).toEqual([]);
  });

  test.each<[Check, RegExp]>([
    [{ file: 'b.txt' }, /there is no b.txt/],
    [{ file: 'a.txt', is: 'one' }, /a.txt is "one two/],
    [{ file: 'a.txt', has: ['one', 'three'] }, /lacks "three"/],
    [{ file: 'a.txt', hasNot: ['two'] }, /a.txt has "two"/],
    [{ absent: 'a.txt' }, /still there/],
    [{ command: 'echo because >&2; exit 3' }, /failed: because/],
    [{ says: 'ill' }, /did not say ill/],
    [{ asked: ['/a', '/b'] }, /never asked for \/b/],
    [{ notAsked: ['/a', '/b'] }, /^asked for \/a$/],
    [{ decisions: 2 }, /asked 1 times, not 2/],
    [{ decisions: 0 }, /need not have been/],
  ])('the judge names the check that fails: %j', async (check, words) => {
    expect(await judge([check], outcome({ said: 'fine' }))).toEqual([expect.stringMatching(words)]);
  });

  test('the judge runs the checks in order, so that a check can use the effect of an earlier command', async () => {
    const checks: Check[] = [{ command: 'rm a.txt' }, { absent: 'a.txt' }];
    expect(await judge(checks, outcome())).toEqual([]);
  });
});
