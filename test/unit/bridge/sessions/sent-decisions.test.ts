import { beforeEach, describe, expect, test } from '@jest/globals';
import { SentDecisions } from '../../../../bridge/sessions/sent-decisions.ts';
import { StoredClaims } from '../../../../bridge/state/decision-claims.ts';
import { temporaryDatabase } from '../../../support/bridge-database.ts';

const of = { agent: 'http://127.0.0.1:1', taskId: 't' };
const shown = [{ callId: 'c', shown: 'h' }];
const changed = [{ callId: 'c', shown: 'other' }];
const waitsNoMore = [{ callId: 'c', shown: undefined }];

describe('decisions that have left', () => {
  let sent: SentDecisions;
  beforeEach(async () => {
    sent = new SentDecisions(new StoredClaims(await temporaryDatabase()));
    await sent.claim('first', shown, of);
  });

  test('E2 of one call as it was shown only one leaves, the same as often as is safe', async () => {
    await expect(sent.claim('second', shown, of)).rejects.toThrow(/has been sent before/);
    await sent.claim('first', shown, of);
    await sent.claim('first', waitsNoMore, of);
  });

  test('a call that is asked again with something else can be decided again', async () => {
    await sent.claim('second', changed, of);
    await expect(sent.claim('third', changed, of)).rejects.toThrow(/has been sent before/);
  });

  test('a call of the same name of another task is another', async () => {
    await sent.claim('second', shown, { ...of, taskId: 'other' });
  });

  test('a call that waits no more cannot be decided, whoever decided it', async () => {
    await expect(sent.claim('second', waitsNoMore, of)).rejects.toThrow(/has been sent before/);
    const unheard = [{ callId: 'unheard of', shown: undefined }];
    await expect(sent.claim('second', unheard, of)).rejects.toThrow();
  });

  test('several are claimed together or not at all', async () => {
    const other = { callId: 'd', shown: 'h' };
    await expect(sent.claim('second', [other, ...shown], of)).rejects.toThrow();
    await sent.claim('third', [other], of);
  });

  test('one that did not arrive is as if it had never been', async () => {
    await sent.failed('first', 'no');
    await sent.claim('second', shown, of);
  });

  test('one that may have arrived stands until the agent has been looked at', async () => {
    await sent.failed('first', 'unknown');
    await expect(sent.claim('second', shown, of)).rejects.toThrow(/whether it arrived is not known/);
    await sent.looked();
    await sent.claim('second', shown, of);
    await sent.looked();
    await expect(sent.claim('third', shown, of)).rejects.toThrow(/the agent has it/);
  });

  test('where nobody can tell whether there is another, nothing leaves', async () => {
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
