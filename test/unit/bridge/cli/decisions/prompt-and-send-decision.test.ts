import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { promptAndSendDecision } from '../../../../../bridge/cli/decisions/prompt-and-send-decision.ts';
import { paintNothing } from '../../../../../bridge/cli/terminal/paint.ts';
import type { PromptWithdrawal } from '../../../../../bridge/cli/terminal/read-line.ts';
import type { Terminal } from '../../../../../bridge/cli/terminal/terminal.ts';
import type { TaskView } from '../../../../../bridge/sessions/session/observed-task.ts';
import type { Session } from '../../../../../bridge/sessions/session/session.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

type Asked = Pick<TaskView, 'pending' | 'question' | 'calls'>;

const taskView = z.custom<Asked>();
const action = pendingWrite('one', { shown: 'aaaa', title: 'Write \u05d0', decisions: ['approve', 'deny'] });
const waiting = taskView.parse({
  pending: [action],
  question: null,
  calls: [{ callId: 'one', decided: null }],
});

/**
 * Asks for a decision. The person enters the lines of `unclear`, which are no decisions, and then types `typed`. The task
 * changes to `next` before Enter. Returns the text that is printed below the action.
 */
async function printedAfter(typed: string, next: unknown, unclear: readonly string[] = []): Promise<string> {
  let view = waiting;
  let tell: (() => void) | undefined;
  const session = z.custom<Session>().parse({
    get view() {
      return view;
    },
    get pendingInput() {
      return view;
    },
    fetchTask: () => Promise.resolve(),
    watch: () => () => undefined,
    listen: (listener: () => void) => {
      tell = listener;
      return () => undefined;
    },
  });
  const said: string[] = [];
  const lines = [...unclear];
  const ask = (question: string, { signal, onWithdrawn }: PromptWithdrawal): Promise<string> => {
    // D5: the marks keep the words of the prompt in their order.
    expect(question).toMatch(/^Approve Write \u200e\u05d0\u200e \(aaaa\)\?/);
    const line = lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    view = taskView.parse(next);
    tell?.();
    if (signal.aborted) onWithdrawn(typed);
    return Promise.resolve('');
  };
  const say = (text: string): void => void said.push(text);
  const terminal = z.custom<Terminal>().parse({ paint: paintNothing, say, ask });
  expect(await promptAndSendDecision(terminal, session, waiting)).toBe('changed');
  const [shown = '', ...below] = said;
  expect(shown).toMatch(/^\nWrite \u05d0 {2}call one, code aaaa\n/);
  return below.join('\n').trim();
}

const decided = { decision: 'approve', by: 'ann', channel: 'page' };
const decidedElsewhere = { pending: [], question: null, calls: [{ callId: 'one', decided }] };

test('R97 a reason that a person types is shown when the action is decided elsewhere, and by whom', async () => {
  expect(await printedAfter('n not this file, because', decidedElsewhere)).toBe(
    'It was decided elsewhere: approved by ann on an approval page.\nYou had typed this. It was not sent:\nn not this file, because',
  );
});

test.each(['', 'y', 'n '])(
  'R97 without a typed reason (%j), only the other decision is shown',
  async (typed) => {
    expect(await printedAfter(typed, decidedElsewhere)).toBe(
      'It was decided elsewhere: approved by ann on an approval page.',
    );
  },
);

test('an agent that does not report decisions leaves out by whom', async () => {
  expect(await printedAfter('', { pending: [], question: null, calls: [] })).toBe(
    'It was decided elsewhere.',
  );
});

test('R14 if the time to decide is over, the terminal does not say that somebody has decided', async () => {
  const expired = {
    state: 'canceled',
    pending: [],
    question: null,
    calls: [{ callId: 'one', decided: null }],
  };
  expect(await printedAfter('', expired)).toBe('It waits no more: the task is cancelled.');
});

test('R93 hidden characters of a name are visible', async () => {
  const call = { callId: 'one', decided: { ...decided, by: 'a\u202eb' } };
  expect(await printedAfter('', { ...decidedElsewhere, calls: [call] })).toContain('by a\\u{202e}b on');
});

test('D2 a typed reason is not kept for the changed action, but shown', async () => {
  const changed = { ...waiting, pending: [{ ...action, shown: 'bbbb' }] };
  expect(await printedAfter('n not this', changed)).toBe(
    'The action has changed, so the agent asks again.\nYou had typed this. It was not sent:\nn not this',
  );
});

test('a line that was no clear decision is shown too, if the person has typed nothing after it', async () => {
  const printed = await printedAfter('', decidedElsewhere, ['too risky for me']);
  expect(printed).toContain('You had typed this. It was not sent:\ntoo risky for me');
});
