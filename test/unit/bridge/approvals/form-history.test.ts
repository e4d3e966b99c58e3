import { describe, expect, test } from '@jest/globals';
import type { FormCandidate } from '../../../../bridge/approvals/form.ts';
import { FormHistory } from '../../../../bridge/approvals/form-history.ts';
import { questionWithCode } from '../../../../bridge/dialects/plain-text-question.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';

const asked = (...changes: Parameters<typeof pendingWrite>[1][]) => ({
  pending: (changes.length === 0 ? [{}] : changes).map((each) => pendingWrite('one', each)),
  question: null,
});

function first([ask]: readonly FormCandidate[]): FormCandidate {
  if (ask === undefined) throw new Error('none');
  return ask;
}

function messageOf(ask: FormCandidate): string {
  if (ask.about === 'unshown' || ask.about === 'other-approver') throw new Error('no form');
  return ask.about === 'page' ? ask.message : ask.form.message;
}

describe('the forms that wait for an answer', () => {
  test('R66 every bridge uses the same key for the same action, and another key for another action', () => {
    const { key } = first(new FormHistory().lastOffered('task', asked()));
    expect(first(new FormHistory().lastOffered('task', asked())).key).toBe(key);
    for (const change of [
      { shown: 'other' },
      { reason: 'content-changed' as const },
      { preview: { type: 'url' as const, url: 'https://a.example' } },
    ])
      expect(first(new FormHistory().lastOffered('task', asked(change))).key).not.toBe(key);
  });

  test('the form of a question says who asks: the agent, by its name if the bridge has several', () => {
    const several = new FormHistory({ agentName: () => 'gem\u202eini' });
    const questions = {
      pending: [pendingWrite('one', { reason: 'question', preview: { type: 'question', text: 'Sure?' } })],
      question: questionWithCode({ id: 'q', text: 'Why?' }),
    };
    const named = several.offer('task', questions);
    const only = new FormHistory().offer('task', questions);
    expect(named.map(messageOf)).toEqual([
      'Agent "gem\\u{202e}ini" asks (then 1 more):\n│ Sure?',
      'Agent "gem\\u{202e}ini" asks:\n│ Why?',
    ]);
    expect(only.map(messageOf)).toEqual([
      'The agent asks (then 1 more):\n│ Sure?',
      'The agent asks:\n│ Why?',
    ]);
    expect(named.map(({ key }) => key)).toEqual(only.map(({ key }) => key));
    for (const [columns, action, plain] of [
      [40, 'Agent "nnnnnnnnnnn…" asks (then 1 more):', `Agent "${'n'.repeat(25)}…" asks:`],
      [24, 'Agent "nnnnnnnnn…" asks:', 'Agent "nnnnnnnnn…" asks:'],
    ] as const) {
      const long = new FormHistory({ agentName: () => 'n'.repeat(200), columns: () => columns });
      expect(long.offer('task', questions).map(messageOf)).toEqual([
        `${action}\n│ Sure?`,
        `${plain}\n│ Why?`,
      ]);
    }
  });

  test('a form names its task, as long as the bridge has several, and the agent of the task if it has several agents', () => {
    let title: string | undefined = 'Tidy up';
    const formHistory = new FormHistory({ taskTitle: (taskId) => (taskId === 'task' ? title : undefined) });
    expect(messageOf(first(formHistory.offer('task', asked())))).toMatch(/^Task: Tidy up\n/);
    expect(messageOf(first(formHistory.offer('other', asked())))).not.toContain('Task: ');
    const several = new FormHistory({ taskTitle: () => title, agentName: () => 'gemini' });
    expect(messageOf(first(several.offer('task', asked())))).toMatch(/^Task of gemini: Tidy up\n/);
    title = undefined;
    expect(messageOf(first(several.offer('task', asked())))).toMatch(/^Agent: gemini\n/);
    expect(messageOf(first(formHistory.offer('task', asked())))).not.toContain('Task: ');
  });

  test('D5 each offer fits the window at that time, and the answer to it still counts in a wider window', () => {
    let columns = 54;
    const formHistory = new FormHistory({ columns: () => columns });
    const preview = { type: 'command' as const, command: `ls ${'x'.repeat(190)}`, cwd: '/w' };
    const narrow = first(formHistory.offer('task', asked({ preview })));
    expect(narrow.about).toBe('page');
    columns = 74;
    expect(formHistory.lastOffered('task', asked({ preview }))).toEqual([narrow]);
    const wide = first(
      formHistory.offer('task', asked({ preview: { ...preview, command: 'x'.repeat(210) } })),
    );
    expect(wide.about).toBe('action');
  });

  test('R67 the display time is measured per task, from the first time that a form is sent', () => {
    let now = 0;
    const formHistory = new FormHistory({ now: () => now });
    const asks = formHistory.lastOffered('task', asked());
    expect(formHistory.ageOfFormMs('task', first(asks))).toBeUndefined();
    formHistory.recordSent('task', asks);
    now = 700;
    formHistory.recordSent('task', asks);
    expect(formHistory.ageOfFormMs('task', first(asks))).toBe(700);
    expect(formHistory.ageOfFormMs('other', first(asks))).toBeUndefined();
  });

  test('R67 after an answer that did not count, the next form says so; after several forms the bridge stops', () => {
    const formHistory = new FormHistory();
    const keys = new Set<string>();
    for (let round = 1; round <= 20; round += 1) {
      const ask = first(formHistory.lastOffered('task', asked()));
      keys.add(ask.key);
      formHistory.recordInvalidAnswer('task', ask, `Answer ${String(round)} did not count.`);
      expect(messageOf(first(formHistory.lastOffered('task', asked())))).toMatch(
        /^Answer \d did not count\./,
      );
    }
    expect(keys.size).toBe(4);
  });

  test('R66 while the page is open, the bridge does not ask again; after the link has expired, the bridge asks again', () => {
    let now = 0;
    const formHistory = new FormHistory({ now: () => now });
    const preview = { type: 'command' as const, command: 'x\n'.repeat(40), cwd: '/w' };
    const ask = first(formHistory.lastOffered('task', asked({ preview })));
    formHistory.recordOpenedLink('task', ask, 60_000);
    expect(formHistory.isOpen('task', ask)).toBe(true);
    now = 60_000;
    expect(formHistory.isOpen('task', ask)).toBe(false);
    formHistory.recordExpiredLink('task', ask);
    expect(first(formHistory.lastOffered('task', asked({ preview }))).key).not.toBe(ask.key);
  });

  test('X3 ten thousand forms use limited memory', () => {
    const formHistory = new FormHistory({ now: () => 0 });
    const asks = formHistory.lastOffered('task', asked());
    for (let task = 0; task < 10_000; task += 1) formHistory.recordSent(String(task), asks);
    expect(formHistory.ageOfFormMs('0', first(asks))).toBeUndefined();
    expect(formHistory.ageOfFormMs('9999', first(asks))).toBe(0);
  });
});
