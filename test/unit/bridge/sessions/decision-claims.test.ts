import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClaimsDirectory } from '../../../../bridge/sessions/decision-claims.ts';
import { SentDecisions } from '../../../../bridge/sessions/sent-decisions.ts';

const asking = { agent: 'http://127.0.0.1:1', taskId: '../t', callId: 'c/1', shown: 'h' };
const calls = [{ callId: asking.callId, shown: asking.shown }];
const NONE: ReadonlySet<string> = new Set();

describe('claims on decisions, in a directory that several bridges share', () => {
  let path: string;
  let one: ClaimsDirectory;
  let other: ClaimsDirectory;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'claims-'));
    one = await ClaimsDirectory.at(path);
    other = await ClaimsDirectory.at(path);
  });
  afterEach(() => rm(path, { recursive: true, force: true }));

  /** What a bridge that was killed has left. */
  async function leftBehind(messageId: string): Promise<void> {
    await one.take(asking, messageId, NONE);
    const [name = ''] = await readdir(path);
    await writeFile(join(path, name), JSON.stringify({ messageId, owner: '999999999-dead' }));
  }

  test('E2 of many who try at once exactly one gets it, and the others are told whose it is', async () => {
    const tries = Array.from({ length: 20 }, (_, at) =>
      (at % 2 === 0 ? one : other).take(asking, `m-${String(at)}`, NONE),
    );
    const answers = await Promise.all(tries);
    expect(answers.filter((each) => each === undefined)).toHaveLength(1);
    const winner = `m-${String(answers.indexOf(undefined))}`;
    for (const each of answers)
      if (each !== undefined) expect(each).toEqual({ messageId: winner, running: true });
  });

  test('the same message has it still, and another after it was taken back', async () => {
    await one.take(asking, 'm-1', NONE);
    expect(await one.take(asking, 'm-1', NONE)).toBeUndefined();
    await other.release(asking, 'm-2');
    expect(await other.take(asking, 'm-2', NONE)).toEqual({ messageId: 'm-1', running: true });
    await one.release(asking, 'm-1');
    expect(await other.take(asking, 'm-2', NONE)).toBeUndefined();
  });

  test('one of a bridge that was killed stands until the agent has been looked at, and then one bridge goes past it', async () => {
    await leftBehind('m-1');
    const [here, there] = [new SentDecisions(one), new SentDecisions(other)];
    for (const each of [here, there])
      await expect(each.claim('m-2', calls, asking)).rejects.toThrow(/whether it arrived is not known/);
    for (const each of [here, there]) await each.looked();
    const both = await Promise.allSettled([
      here.claim('m-3', calls, asking),
      there.claim('m-4', calls, asking),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('one of a bridge that runs is never gone past, however often the agent is looked at', async () => {
    await one.take(asking, 'm-1', NONE);
    const there = new SentDecisions(other);
    for (const _ of ['once', 'twice']) {
      await expect(there.claim('m-2', calls, asking)).rejects.toThrow(
        /the agent has it, or it is on its way/,
      );
      await there.looked();
    }
    expect(await other.take(asking, 'm-2', new Set(['m-1']))).toEqual({ messageId: 'm-1', running: true });
  });

  test('what cannot be read stands in the way', async () => {
    await one.take(asking, 'm-1', NONE);
    const [name = ''] = await readdir(path);
    await writeFile(join(path, name), 'no claim');
    await expect(new SentDecisions(other).claim('m-2', calls, asking)).rejects.toMatchObject({
      reason: 'STORAGE',
    });
  });

  test('what is a month old is forgotten by the next that opens it', async () => {
    await one.take(asking, 'm-1', NONE);
    const [name = ''] = await readdir(path);
    const old = new Date(Date.now() - 31 * 24 * 60 * 60_000);
    await utimes(join(path, name), old, old);
    await ClaimsDirectory.at(path);
    expect(await readdir(path)).toEqual([]);
  });
});
