import { expect, test } from '@jest/globals';
import { whenAgentReadsMessage } from '../../../../../bridge/mcp/reports/when-agent-reads-message.ts';
import type { CallView } from '../../../../../bridge/sessions/session/observed-task.ts';
import { callView } from '../../../../support/task-view.ts';

const call = (state: CallView['state']): CallView =>
  callView({ tool: 'run-command', title: 'npm test', state, toolId: 'x' });

test.each([
  ['working', call('running'), 'tool-approval', 'The message is queued: the agent reads it after npm test.'],
  [
    'working',
    call('ok'),
    'tool-approval',
    'The message is queued: the agent reads it after the turn that runs.',
  ],
  ['working', call('running'), 'plain', 'The agent has accepted the message for its running task.'],
  ['completed', call('ok'), 'tool-approval', undefined],
  ['input-required', call('ok'), 'gemini', undefined],
] as const)(
  'R04 the answer to a message for a task that is %s says when the agent reads the message',
  (state, each, dialect, words) => {
    expect(whenAgentReadsMessage({ state, calls: [each] }, dialect)).toBe(words);
  },
);
