/** Tests how an A2A client finds and sends the agent's commands: the card, the list, and messages with data. */
import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AGENT_COMMAND_EXTENSION } from '../../../shared/protocol/agent-command.ts';
import { sharedStage } from '../../support/shared-stage.ts';

const task = z.looseObject({
  task: z.looseObject({
    contextId: z.string(),
    status: z.looseObject({ state: z.string() }),
    artifacts: z.array(z.looseObject({ parts: z.array(z.looseObject({ text: z.string().optional() })) })),
  }),
});
const refusal = z.looseObject({
  error: z.looseObject({ message: z.string(), details: z.array(z.looseObject({ metadata: z.unknown() })) }),
});

describe('the commands of the agent over A2A', () => {
  it('X1 the agent card names the commands as a capability, and the command list needs a token', async () => {
    const { server } = await sharedStage();
    const card: unknown = await (await fetch(`${server.url}/.well-known/agent-card.json`)).json();
    expect(card).toMatchObject({
      capabilities: {
        extensions: expect.arrayContaining([expect.objectContaining({ uri: AGENT_COMMAND_EXTENSION })]),
      },
      skills: expect.arrayContaining([
        expect.objectContaining({ id: 'files' }),
        expect.objectContaining({
          id: 'commands',
          description: expect.stringContaining('checkpoint restore'),
        }),
      ]),
    });
    expect((await fetch(`${server.url}/api/commands`)).status).toBe(401);
    const headers = { authorization: `Bearer ${server.token}` };
    const listed: unknown = await (await fetch(`${server.url}/api/commands`, { headers })).json();
    expect(listed).toMatchObject({
      commands: expect.arrayContaining([
        {
          name: 'checkpoint show',
          description: expect.any(String),
          arguments: [{ name: 'id', description: expect.any(String), required: true }],
        },
      ]),
    });
  });

  it('a command is a message of one data part over HTTP+JSON; an invalid command is refused with its name, and starts nothing', async () => {
    const { server } = await sharedStage();
    const send = async (data: object): Promise<unknown> => {
      const response = await fetch(`${server.url}/message:send`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.token}`,
          'content-type': 'application/json',
          'a2a-version': '1.0',
        },
        body: JSON.stringify({
          message: {
            messageId: randomUUID(),
            role: 'ROLE_USER',
            parts: [{ data: { extension: AGENT_COMMAND_EXTENSION, ...data } }],
          },
        }),
      });
      return response.json();
    };
    const help = task.parse(await send({ command: 'help' }));
    expect(help.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(help.task.artifacts[0]?.parts[0]?.text).toContain('- init: ');
    const unknown = refusal.parse(await send({ command: 'undo' }));
    expect(unknown.error.message).toContain('The commands are: init, checkpoint list');
    expect(unknown.error.details).toMatchObject([{ metadata: { reason: 'UNKNOWN_COMMAND' } }]);
    const malformed = refusal.parse(await send({ command: 'help', args: 'all' }));
    expect(malformed.error.details).toMatchObject([{ metadata: { reason: 'MALFORMED' } }]);
  });
});
