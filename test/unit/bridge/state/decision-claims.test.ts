import { beforeEach, describe, expect, test } from '@jest/globals';
import { SentDecisions } from '../../../../bridge/sessions/session/claim-decisions.ts';
import type { BridgeDatabase } from '../../../../bridge/state/database.ts';
import { DecisionClaims } from '../../../../bridge/state/decision-claims.ts';
import { endedProcessId, openDatabase } from '../../../support/bridge-database.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const asking = { agent: 'http://127.0.0.1:1', taskId: '../t', callId: 'c/1', shown: 'h' };
const calls = [{ callId: asking.callId, shown: asking.shown }];
const NONE: ReadonlySet<string> = new Set();

describe('claims on decisions, in the database that bridges share', () => {
  let state: string;
  let database: BridgeDatabase;
  let one: DecisionClaims;
  let other: DecisionClaims;

  beforeEach(async () => {
    state = await temporaryDirectory();
    database = await openDatabase(state);
    one = new DecisionClaims(database);
    // The claims of another bridge, whose process still runs.
    other = new DecisionClaims(await openDatabase(state, `${String(process.pid)}-x`));
  });

  /** Creates the claim of a killed bridge. */
  async function leftBehind(messageId: string): Promise<void> {
    const killed = new DecisionClaims(await openDatabase(state, await endedProcessId()));
    await killed.take(asking, messageId, NONE);
  }

  test('E2 if many messages claim a call at once, exactly one gets the claim, and the other messages learn which', async () => {
    const tries = Array.from({ length: 20 }, (_, at) =>
      (at % 2 === 0 ? one : other).take(asking, `m-${String(at)}`, NONE),
    );
    const answers = await Promise.all(tries);
    expect(answers.filter((each) => each === undefined)).toHaveLength(1);
    const winner = `m-${String(answers.indexOf(undefined))}`;
    for (const each of answers)
      if (each !== undefined) expect(each).toEqual({ messageId: winner, running: true });
  });

  test('the same message keeps its claim, and after the release another message can get the claim', async () => {
    await one.take(asking, 'm-1', NONE);
    expect(await one.take(asking, 'm-1', NONE)).toBeUndefined();
    other.release(asking, 'm-2');
    expect(await other.take(asking, 'm-2', NONE)).toEqual({ messageId: 'm-1', running: true });
    one.release(asking, 'm-1');
    expect(await other.take(asking, 'm-2', NONE)).toBeUndefined();
  });

  test('a killed bridge’s claim stays until a bridge has asked the agent; then exactly one bridge replaces the claim', async () => {
    await leftBehind('m-1');
    const [here, there] = [new SentDecisions(one), new SentDecisions(other)];
    for (const each of [here, there])
      await expect(each.claim('m-2', calls, asking)).rejects.toThrow(/whether it arrived is not known/);
    for (const each of [here, there]) await each.beforeTaskRequest()();
    const both = await Promise.allSettled([
      here.claim('m-3', calls, asking),
      there.claim('m-4', calls, asking),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('a claim of a running bridge is never replaced, even after many requests to the agent', async () => {
    await one.take(asking, 'm-1', NONE);
    const there = new SentDecisions(other);
    for (const _ of ['once', 'twice']) {
      await expect(there.claim('m-2', calls, asking)).rejects.toThrow(
        /the agent has it, or it is on its way/,
      );
      await there.beforeTaskRequest()();
    }
    expect(await other.take(asking, 'm-2', new Set(['m-1']))).toEqual({
      messageId: 'm-1',
      running: true,
    });
  });

  test('claims that the bridge cannot read prevent a decision', async () => {
    database.run('DROP TABLE decision_claims');
    await expect(new SentDecisions(other).claim('m-2', calls, asking)).rejects.toMatchObject({
      reason: 'STORAGE',
    });
  });

  test('a claim that looks a month old is deleted only if there are many: the clock may have jumped ahead', async () => {
    await one.take(asking, 'm-1', NONE);
    database.run('UPDATE decision_claims SET at = ?', Date.now() - 31 * 24 * 60 * 60_000);
    const kept = new DecisionClaims(database);
    expect(await kept.take(asking, 'm-2', NONE)).toMatchObject({ messageId: 'm-1' });
    database.run(`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      INSERT INTO decision_claims SELECT agent, task_id, i, shown, message_id, owner, at FROM n, decision_claims`);
    const next = new DecisionClaims(database);
    expect(await next.take(asking, 'm-2', NONE)).toBeUndefined();
  });
});
