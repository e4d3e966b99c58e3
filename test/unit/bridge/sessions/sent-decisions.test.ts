import { beforeEach, describe, expect, test } from '@jest/globals';
import { SentDecisions } from '../../../../bridge/sessions/sent-decisions.ts';

const shown = [{ callId: 'c', inputHash: 'h' }];
const changed = [{ callId: 'c', inputHash: 'other' }];
const waitsNoMore = [{ callId: 'c', inputHash: undefined }];

describe('decisions that have left', () => {
  let sent: SentDecisions;
  beforeEach(() => {
    sent = new SentDecisions();
    sent.claim('first', shown);
  });

  test('E2 of one call as it was shown only one leaves, the same as often as is safe', () => {
    expect(() => sent.claim('second', shown)).toThrow(/has been sent before/);
    sent.claim('first', shown);
    sent.claim('first', waitsNoMore);
  });

  test('a call that is asked again with something else can be decided again', () => {
    sent.claim('second', changed);
    expect(() => sent.claim('third', changed)).toThrow(/has been sent before/);
  });

  test('a call that waits no more cannot be decided, whoever decided it', () => {
    expect(() => sent.claim('second', waitsNoMore)).toThrow(/has been sent before/);
    expect(() => sent.claim('second', [{ callId: 'unheard of', inputHash: undefined }])).toThrow();
  });

  test('several are claimed together or not at all', () => {
    expect(() => sent.claim('second', [{ callId: 'd', inputHash: 'h' }, ...shown])).toThrow();
    sent.claim('third', [{ callId: 'd', inputHash: 'h' }]);
  });

  test('one that did not arrive is as if it had never been', () => {
    sent.failed('first', 'no');
    sent.claim('second', shown);
  });

  test('one that may have arrived stands until the agent has been looked at', () => {
    sent.failed('first', 'unknown');
    expect(() => sent.claim('second', shown)).toThrow(/whether it arrived is not known/);
    sent.looked();
    sent.claim('second', shown);
    sent.looked();
    expect(() => sent.claim('third', shown)).toThrow(/the agent has it/);
  });
});
