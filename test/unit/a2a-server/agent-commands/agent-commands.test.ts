import { describe, expect, it } from '@jest/globals';
import type { AgentCommand } from '../../../../a2a-server/agent-commands/agent-command.ts';
import { createAgentCommands } from '../../../../a2a-server/agent-commands/agent-commands.ts';
import type { ModelEvent } from '../../../../a2a-server/models/model.ts';
import type { Workspace } from '../../../../a2a-server/tools/workspace/workspace.ts';
import { openWorkspace } from '../../../../a2a-server/tools/workspace/workspace.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';
import type { CommandCall } from '../../../../shared/protocol/agent-command.ts';
import { TaskMachine } from '../../../support/task-machine.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const id = { name: 'id', description: '', required: true };

/** Creates a command whose result is its name and its arguments. */
const echo = (name: string, more: object = {}): AgentCommand => ({
  name,
  description: `Says ${name}.`,
  arguments: [],
  begin: async (args) => ({ type: 'answer', text: [name, ...args].join(' | ') }),
  ...more,
});

const commands = createAgentCommands([
  echo('list', { aliases: ['show list'] }),
  echo('show', { arguments: [id, { ...id, name: 'how', required: false }] }),
  { name: 'prompted', description: '', arguments: [], prompt: 'Do it.' },
  echo('checked', {
    arguments: [id],
    check([word]: readonly string[]) {
      throw new ProductError('MALFORMED', `Not ${String(word)}.`);
    },
  }),
  echo('broken', {
    begin: () => Promise.reject(new ProductError('MALFORMED', 'That cannot be done.')),
  }),
]);

async function answer(call: CommandCall): Promise<ModelEvent[]> {
  const workspace: Workspace = await openWorkspace(await temporaryDirectory());
  const model = commands.model(call, { snapshot: new TaskMachine().snapshot, workspace });
  const events: ModelEvent[] = [];
  const { signal } = new AbortController();
  for await (const event of model.stream({
    instructions: '',
    conversation: [],
    exchanges: [],
    tools: [],
    signal,
  }))
    events.push(event);
  return events;
}

describe('a command', () => {
  it.each([
    [{ command: 'list', args: [] }, 'list'],
    [{ command: '/list', args: [] }, 'list'],
    [{ command: 'show', args: ['a b'] }, 'show | a b'],
    [{ command: 'show one', args: ['two'] }, 'show | one | two'],
    [{ command: 'show list', args: [] }, 'list'],
    [{ command: 'show', args: ['list'] }, 'list'],
  ])('%j selects the command with the longest name that matches its words', async (call, text) => {
    expect(await answer(call)).toEqual([
      { type: 'text', text },
      { type: 'finish', end: 'stop', usage: { inputTokens: 0, outputTokens: 0 } },
    ]);
  });

  it.each([
    [{ command: 'shows', args: [] }, 'UNKNOWN_COMMAND', 'list, show, prompted, checked, broken'],
    [{ command: 'show', args: [] }, 'MALFORMED', 'show <id> [how]'],
    [{ command: 'show', args: ['a', 'b', 'c'] }, 'MALFORMED', 'show <id> [how]'],
    [{ command: 'list', args: ['a'] }, 'MALFORMED', 'list'],
  ])('the command %j is refused, and the error gives the next step', (call, reason, words) => {
    const refused = expect(() => commands.accept({ messageId: 'm', parts: [], command: call }));
    refused.toThrow(expect.objectContaining({ reason, message: expect.stringContaining(words) }));
  });

  it('a command with a prompt starts a task whose message is the prompt, with the data of the client', () => {
    const data = { messageId: 'm', metadata: { ticket: 7 }, extensions: ['urn:x'], referenceTaskIds: ['t'] };
    const message = { ...data, parts: [], command: { command: 'prompted', args: [] } };
    expect(commands.accept(message)).toEqual({ ...data, parts: [{ type: 'text', text: 'Do it.' }] });
  });

  it('a command with invalid arguments is refused', () => {
    const message = { messageId: 'm', parts: [], command: { command: 'checked', args: ['x'] } };
    expect(() => commands.accept(message)).toThrow('Not x.');
  });

  it('a command that cannot run fails with its own error', async () => {
    expect(await answer({ command: 'broken', args: [] })).toMatchObject([
      { type: 'finish', end: { type: 'failed', message: 'That cannot be done.' } },
    ]);
  });
});
