import { beforeEach, describe, expect, test } from '@jest/globals';
import { SentDecisions } from '../../../../../bridge/sessions/session/claim-decisions.ts';
import { DecisionClaims } from '../../../../../bridge/state/decision-claims.ts';
import { temporaryDatabase } from '../../../../support/bridge-database.ts';

const of = { agent: 'http://127.0.0.1:1', taskId: 't' };
const shown = [{ callId: 'c', shown: 'h' }];
const changed = [{ callId: 'c', shown: 'other' }];
const waitsNoMore = [{ callId: 'c', shown: undefined }];

describe('decisions that bridges send', () => {
  let sent: SentDecisions;
  beforeEach(async () => {
    sent = new SentDecisions(new DecisionClaims(await temporaryDatabase()));
    await sent.claim('first', shown, of);
  });

  test('E2 only one decision on a call with the shown code is sent; the same decision may be repeated', async () => {
    await expect(sent.claim('second', shown, of)).rejects.toThrow(/has been sent before/);
    await sent.claim('first', shown, of);
    await sent.claim('first', waitsNoMore, of);
  });

  test('a call that asks again with another input can be decided again', async () => {
    await sent.claim('second', changed, of);
    await expect(sent.claim('third', changed, of)).rejects.toThrow(/has been sent before/);
  });

  test('a call with the same id in another task is a different call', async () => {
    await sent.claim('second', shown, { ...of, taskId: 'other' });
  });

  test('a call that no longer waits cannot be decided', async () => {
    await expect(sent.claim('second', waitsNoMore, of)).rejects.toThrow(/has been sent before/);
    const unheard = [{ callId: 'unheard of', shown: undefined }];
    await expect(sent.claim('second', unheard, of)).rejects.toThrow();
  });

  test('several decisions are claimed together, or none of them is claimed', async () => {
    const other = { callId: 'd', shown: 'h' };
    await expect(sent.claim('second', [other, ...shown], of)).rejects.toThrow();
    await sent.claim('third', [other], of);
  });

  test('a decision that did not arrive has no effect', async () => {
    await sent.failed('first', 'no');
    await sent.claim('second', shown, of);
  });

  test('a decision that may have arrived stays valid until the bridge has checked with the agent', async () => {
    await sent.failed('first', 'unknown');
    await expect(sent.claim('second', shown, of)).rejects.toThrow(/whether it arrived is not known/);
    await sent.beforeTaskRequest()();
    await sent.claim('second', shown, of);
    await sent.beforeTaskRequest()();
    await expect(sent.claim('third', shown, of)).rejects.toThrow(/the agent has it/);
  });

  test('E2 a report of the task that was requested before the decision was lost does not say that the decision has not arrived', async () => {
    const looked = sent.beforeTaskRequest();
    await sent.failed('first', 'unknown');
    await looked();
    await expect(sent.claim('second', shown, of)).rejects.toThrow(/whether it arrived is not known/);
  });

  test('if the bridge cannot check for other decisions, it sends no decision', async () => {
    const broken = {
      take: () => Promise.reject(new Error('the disk is full')),
      release: () => undefined,
    };
    await expect(new SentDecisions(broken).claim('first', shown, of)).rejects.toMatchObject({
      reason: 'STORAGE',
      message: expect.stringMatching(/the disk is full.*Nothing was sent/),
    });
  });
});
