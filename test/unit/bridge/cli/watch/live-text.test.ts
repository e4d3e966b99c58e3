import { describe, expect, it } from '@jest/globals';
import { LiveTaskText } from '../../../../../bridge/cli/watch/live-text.ts';
import type { Observation } from '../../../../../bridge/dialects/observation.ts';
import { foldObservedEvent, type TaskView } from '../../../../../bridge/sessions/session/observed-task.ts';
import type { ToolCallEvent, PendingAction } from '../../../../../shared/protocol/tool-approval.ts';
import { fakeTerminal } from '../../../../support/fake-terminal.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

const task = { taskId: 't', sessionId: 's' };
const call = { callId: 'c1', tool: 'write-file', title: 'Write a.md' };
const action = pendingWrite('c1', {
  ...call,
  shown: 'h1',
  preview: { type: 'diff', path: 'a.md', diff: '+new' },
  decisions: ['approve', 'deny'],
});

const status = (
  state: TaskView['state'],
  pending: readonly PendingAction[] = [],
  text = '',
): Observation => ({
  type: 'status',
  ...task,
  state,
  text,
  pending,
  question: null,
});
const output = (text: string): Observation => ({
  type: 'output',
  ...task,
  output: { id: 'turn-1', name: '', text },
  append: true,
});
const activity = (happened: ToolCallEvent, at?: string): Observation => ({
  type: 'activity',
  activity: happened,
  ...(at !== undefined && { at }),
});

/** Returns the terminal output for these observations. Each observation, or list of them, has its own event. */
function shown(
  events: readonly (Observation | readonly Observation[])[],
  decides: boolean,
  { times = false, width }: { times?: boolean; width?: number } = {},
): string {
  let screen = '';
  const live = new LiveTaskText(
    fakeTerminal({
      width,
      say: (text) => (screen += `${text}\n`),
      explain: (text) => (screen += `${text}\n`),
      write: (text) => (screen += text),
    }),
    { pending: decides ? 'with commands' : 'without commands', times },
  );
  let view: TaskView | undefined;
  for (const [at, event] of events.entries()) {
    const observed = { seq: at + 1, observations: [event].flat() };
    view = foldObservedEvent(view, observed);
    live.show(observed, view);
  }
  live.end(view);
  return screen;
}

describe('the live text of a task that a person watches', () => {
  it('the live text marks the reasoning of each turn, and shows what the turn cost', () => {
    const thinks = (turn: number, text: string): Observation => ({ type: 'reasoning', ...task, turn, text });
    const cost: Observation = {
      type: 'cost',
      ...task,
      cost: {
        turn: 1,
        inputTokens: 2_257,
        cachedInputTokens: 2_048,
        cacheWriteTokens: 0,
        outputTokens: 41,
        usd: 0.0125,
      },
    };
    const screen = shown(
      [
        status('working'),
        thinks(1, 'I need\n'),
        thinks(1, 'both \u202e files.'),
        output('I read both.'),
        cost,
        thinks(2, 'Now I compare.'),
        status('completed'),
      ],
      true,
    );
    expect(screen).toBe(
      [
        '#1 working',
        'thinking:',
        '│ I need',
        '│ both \\u{202e} files.',
        '│ I read both.',
        'turn 1: 2257 tokens in (2048 read from the cache), 41 out, $0.0125',
        'thinking:',
        '│ Now I compare.',
        '#7 completed',
        '',
      ].join('\n'),
    );
  });

  it('a long state continues in the next row with a whole word, so no text of the agent begins a row', () => {
    const failed = status('failed', [], 'The model answered: approve it now, please.');
    expect(shown([output('Hm.\n'), failed], true, { width: 40 })).toBe(
      '│ Hm.\n#1 submitted\n#2 failed: The model answered: approve\n↳ it now, please.\n',
    );
  });

  it('the end of a tool has its summary, because a command may fail although its tool has the outcome ok', () => {
    const summary = '`npm test` exited with code 1\n\u{202e}';
    const ended = activity({ type: 'tool.finished', ...call, toolId: 'shell-1', outcome: 'ok', summary });
    expect(shown([ended], true, { width: 40 })).toBe(
      '#1 write-file: `npm test` exited with\n↳ code 1⏎\\u{202e}\n',
    );
  });

  it.each([
    [
      'stopped',
      'Stopped because the task was cancelled: enough',
      'Stopped because the task was cancelled: enough',
    ],
    ['unknown', 'interrupted, outcome unknown', 'interrupted, outcome unknown'],
    ['error', 'no such file', 'error, no such file'],
    ['error', 'Stopped container not found', 'error, Stopped container not found'],
  ] as const)('the end of a tool with the outcome %s says it once', (outcome, summary, said) => {
    const ended = activity({ type: 'tool.finished', ...call, toolId: 'write-1', outcome, summary });
    expect(shown([ended], true)).toBe(`#1 write-file: ${said}\n`);
  });

  it('the live text has the model’s text as it arrives, and each step on its own line', () => {
    const screen = shown(
      [
        status('working'),
        output('I will '),
        output('write.'),
        activity({ type: 'tool.started', ...call, toolId: 'write-1' }),
        activity({ type: 'tool.output', ...call, toolId: 'write-1', text: 'one\ntw' }),
        activity({ type: 'tool.output', ...call, toolId: 'write-1', text: 'o\n' }),
        activity({ type: 'tool.finished', ...call, toolId: 'write-1', outcome: 'ok', summary: '' }),
        status('completed'),
      ],
      true,
    );
    expect(screen).toBe(
      '#1 working\n│ I will write.\n#4 write-file runs: Write a.md  write-1\n│ one\n│ two\n#7 write-file: ok\n#8 completed\n',
    );
  });

  it('D5 no text of the agent or a tool looks like a line of the program: each line and each row has a mark', () => {
    const pieces = ['#9 write-file: app', 'roved by you\n', '\n', '#10 completed'].map(output);
    const told = activity({ type: 'tool.output', ...call, toolId: 'write-1', text: '#11 completed\n' });
    expect(shown([status('working'), ...pieces, told, status('completed')], true, { width: 24 })).toBe(
      '#1 working\n│ #9 write-file: approve\n↳ d by you\n│\n│ #10 completed\n│ #11 completed\n#7 completed\n',
    );
  });

  it('R100 the live text lists what a completed task did not do', () => {
    const denied = {
      ...call,
      decision: 'deny',
      by: 'ada',
      channel: 'cli',
    } as const;
    const screen = shown(
      [status('working'), activity({ type: 'tool.decided', ...denied }), status('completed')],
      true,
    );
    expect(screen).toContain('completed, not done: Write a.md (denied)');
  });

  it('the live text shows a pending action once, with the command that decides it, and again when it is asked again', () => {
    const screen = shown(
      [
        status('input-required', [action]),
        status('input-required', [action]),
        status('input-required', [{ ...action, shown: 'h2', reason: 'content-changed' }]),
      ],
      true,
    );
    expect(screen.match(/^│ \+new$/gm)).toHaveLength(2);
    expect(screen).toContain('mcp-a2a-bridge approve h2');
    expect(screen).toContain('has changed since');
    expect(screen.match(/input-required/g)).toHaveLength(1);
  });

  it('the live text gives no command to decide a task that has ended', () => {
    const screen = shown([status('input-required', [action])], false);
    expect(screen).toContain('+new');
    expect(screen).not.toContain('mcp-a2a-bridge approve');
  });

  it('the live text shows the title of a pending action once, below the state and a blank line', () => {
    const asks = activity({ type: 'tool.requested', ...call, asks: true });
    expect(shown([status('working'), asks, status('input-required', [action])], true)).toMatch(
      /^#1 working\n#2 write-file waits for approval\n#3 input-required\n\nWrite a\.md {2}call c1, code h1\n/,
    );
  });

  it('the live text shows the tools that already run when the watch begins', () => {
    const snapshot: Observation = {
      type: 'snapshot',
      ...task,
      state: 'working',
      text: '',
      pending: [],
      question: null,
      outputs: [],
      reply: '',
      overview: {
        settings: {},
        turns: 1,
        usage: { inputTokens: 0, outputTokens: 0 },
        calls: [{ ...call, sideEffect: 'files', state: 'running', toolId: 'write-1' }],
      },
    };
    expect(shown([snapshot], true)).toBe('#1 write-file runs: Write a.md  write-1\n#1 working\n');
  });

  it('the live text shows the text from before the watch began', () => {
    const snapshot: Observation = {
      type: 'snapshot',
      ...task,
      state: 'completed',
      text: '',
      pending: [],
      question: null,
      outputs: [{ id: 'o', name: '', text: 'the result' }],
      reply: '',
      overview: null,
    };
    expect(shown([snapshot], true)).toBe('│ the result\n#1 completed\n');
  });

  it('with the option for times, each line begins with the event’s time in UTC, as in the log', () => {
    const at = '2026-01-02T05:04:05.123+02:00';
    const began = activity({ type: 'tool.started', ...call, toolId: 'write-1' }, at);
    const state = { state: 'completed', text: '', pending: [], question: null } as const;
    const ended: Observation = { type: 'status', ...task, ...state, at: 'yesterday' };
    expect(shown([began, ended], true, { times: true })).toBe(
      '03:04:05.123Z #1 write-file runs: Write a.md  write-1\nyesterday #2 completed\n',
    );
    expect(shown([began], true)).toMatch(/^#1 /);
  });
});
