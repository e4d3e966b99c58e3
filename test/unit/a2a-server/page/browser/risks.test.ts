import { describe, expect, it } from '@jest/globals';
import { type Risk, risksOf } from '../../../../../a2a-server/page/browser/risks.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

const WRITE = pendingWrite('c');

const high = (risks: readonly Risk[]): string[] => risks.filter((risk) => risk.high).map(({ text }) => text);

describe('the risks of an action', () => {
  it('a changed file can be restored, so it is no high risk', () => {
    expect(risksOf(WRITE)).toEqual([{ text: 'changes files', high: false }]);
  });

  it.each(['command', 'network', 'other'] as const)('the effect "%s" is a high risk', (sideEffect) => {
    expect(high(risksOf({ ...WRITE, sideEffect }))).toHaveLength(1);
  });

  it('an action that needs a passkey says so first', () => {
    expect(high(risksOf({ ...WRITE, presence: true }))).toEqual(['needs your passkey']);
  });

  it('a deleted file and an unknown outcome are high risks', () => {
    expect(high(risksOf({ ...WRITE, tool: 'delete-file' }))).toEqual(['deletes']);
    expect(high(risksOf({ ...WRITE, reason: 'outcome-unknown' }))).toEqual(['may have run already']);
  });

  it('a question has no risk', () => {
    expect(risksOf({ ...WRITE, sideEffect: 'other', preview: { type: 'question', text: '?' } })).toEqual([]);
  });
});
