import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Agent } from '../../../../../bridge/agents/agent.ts';
import type { A2aConnection } from '../../../../../bridge/agents/connection.ts';
import { taskAsStreamResponse } from '../../../../../bridge/agents/task-as-stream-response.ts';
import { TaskWatch } from '../../../../../bridge/cli/watch/task-watch.ts';
import { hasEnded } from '../../../../../bridge/sessions/session/observed-task.ts';
import { fakeTerminal } from '../../../../support/fake-terminal.ts';
import { FakeTask } from '../../../../support/fake-agent-task.ts';
import { quietConnection } from '../../../../support/quiet-connection.ts';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
});
afterEach(() => {
  jest.useRealTimers();
});

const refuse = (): never => {
  throw new Error('the test does not use this');
};

/** Runs one task, which reports nothing until the test ends it. */
class SilentAgent extends Agent {
  readonly task = new FakeTask('task-1', 'session-1', true).work();
  finish: () => void = refuse;
  isJournalUnreachable = (): Promise<boolean> => Promise.resolve(true);

  constructor() {
    super('local', refuse);
  }

  override connect(): Promise<A2aConnection> {
    return Promise.resolve(
      quietConnection({
        send: refuse,
        task: refuse,
        cancel: refuse,
        list: refuse,
        isJournalUnreachable: () => this.isJournalUnreachable(),
        follow: ({ onEvent }) => {
          void onEvent(taskAsStreamResponse(this.task.toTask()));
          return new Promise((resolve) => {
            this.finish = () => {
              void onEvent(taskAsStreamResponse(this.task.complete().toTask()));
              resolve();
            };
          });
        },
      }),
    );
  }
}

function watchOf(agent: SilentAgent): { watched: Promise<unknown>; screen: () => string } {
  let screen = '';
  const say = (text: string): void => void (screen += `${text}\n`);
  const watch = new TaskWatch({
    agent,
    taskId: 'task-1',
    terminal: fakeTerminal({ say, explain: say, write: (text) => void (screen += text) }),
    after: 0,
    pending: 'with commands',
  });
  return { watched: watch.until(hasEnded), screen: () => screen };
}

it('R28 a watch of a silent task says once that the server cannot write its journal', async () => {
  const agent = new SilentAgent();
  const { watched, screen } = watchOf(agent);
  await jest.advanceTimersByTimeAsync(30_000);
  expect(screen().match(/cannot write its journal/g)).toHaveLength(1);
  agent.finish();
  await watched;
  expect(screen()).toContain('completed');
});

it('a reason that comes after the end of the silence is not printed', async () => {
  const agent = new SilentAgent();
  let answer: (unreachable: boolean) => void = refuse;
  agent.isJournalUnreachable = () => new Promise((resolve) => (answer = resolve));
  const { watched, screen } = watchOf(agent);
  await jest.advanceTimersByTimeAsync(20_000);
  agent.finish();
  answer(true);
  await watched;
  await jest.advanceTimersByTimeAsync(0);
  expect(screen()).not.toContain('cannot write its journal');
});
