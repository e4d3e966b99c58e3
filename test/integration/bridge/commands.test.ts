/**
 * Agent commands over the bridge, with our server as a process, a fake of gemini-cli's agent, and an agent without
 * commands.
 */
import { actionOf } from '../../support/a2a-message.ts';
import { describe, expect, test } from '@jest/globals';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { plainAgent } from '../../support/fake-agent-plain.ts';
import { FakeGemini } from '../../support/fake-gemini.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import {
  DECIDE,
  DELEGATE,
  type AgentAddress,
  closeAfterTest,
  program,
  startClient,
} from './support/bridge-stage.ts';
import { type RawClient, textOf, refusalOf } from './support/raw-client.ts';

const EXECUTE = 'execute_agent_command';
const LIST = 'list_available_agent_commands';
const ABORT = 'abort_tool_execution';

const report = z.looseObject({
  sessionId: z.string(),
  taskId: z.string(),
  state: z.string(),
  output: z.string(),
  pending: z.array(
    z.looseObject({ callId: z.string(), shown: z.string(), tool: z.string(), preview: z.string() }),
  ),
});

async function clientOf(
  agent: AgentAddress,
  args: string[] = [],
  more: { workspaces?: readonly string[]; env?: Record<string, string> } = {},
): Promise<RawClient> {
  return startClient(agent, { args, ...more });
}

async function gemini(): Promise<FakeGemini> {
  const agent = await FakeGemini.start(() => []);
  closeAfterTest(() => agent.stop());
  return agent;
}

describe('the commands of the a2a-server', () => {
  test('X2 a command that names a directory outside the allowed ones is refused', async () => {
    const whole = await sharedStage();
    const own = await mkdtemp(join(program.directory, 'own-'));
    const client = await clientOf(whole.server, [], { workspaces: [], env: { CLAUDE_PROJECT_DIR: own } });
    const outside = { command: 'checkpoint list', workspace: whole.server.workspace };
    const refused = await client.call(EXECUTE, outside);
    expect(refusalOf(refused)).toMatch(/is outside\. Nothing was sent\. .*--allow-workspace/);
    expect(await whole.peer.list()).toEqual([]);
    expect((await client.call(EXECUTE, { ...outside, workspace: own })).isError).not.toBe(true);
  });

  test('the bridge lists the commands; "init" sends a prompt to the model; "restore" removes a file that an approved call created', async () => {
    const whole = await sharedStage();
    const { workspace } = whole.server;
    const client = await clientOf(whole.server);
    const listed = await client.call(LIST, {});
    expect(textOf(listed)).toContain('- checkpoint restore <id>: ');
    expect(listed.structuredContent).toMatchObject({
      agents: [{ commands: expect.arrayContaining([expect.objectContaining({ name: 'init' })]) }],
    });

    const prompted = await client.call(EXECUTE, { command: 'init', workspace });
    // A prompt command goes to the model, and the offline model rejects prose.
    expect(prompted.structuredContent).toMatchObject({ state: 'rejected' });
    expect(textOf(prompted)).toMatch(/^agent rejected the task: No model is configured,[^]* model set /);

    const asked = report.parse(
      (await client.call(DELEGATE, { task: 'create AGENTS.md with rules', workspace })).structuredContent,
    );
    expect(asked).toMatchObject({ state: 'input_required', pending: [{ tool: 'write-file' }] });
    const { sessionId } = asked;
    const approve = async ({ pending }: z.infer<typeof report>) =>
      client.call(DECIDE, { sessionId, ...actionOf(pending), decision: 'approve' });
    expect((await approve(asked)).structuredContent).toMatchObject({ state: 'completed' });

    const list = await client.call(EXECUTE, { command: 'checkpoint list', sessionId });
    const id = /- (\S+), .*AGENTS\.md \(created\)/.exec(textOf(list))?.[1] ?? '';
    const back = await client.call(EXECUTE, { command: 'checkpoint', args: ['restore', id], sessionId });
    const restoring = report.parse(back.structuredContent);
    expect(restoring.pending).toMatchObject([{ tool: 'restore-checkpoint' }]);
    expect(restoring.sessionId).toBe(sessionId);
    expect(textOf(await approve(restoring))).toContain('Restored 1 file: AGENTS.md (removed).');
    expect(await whole.file('AGENTS.md')).toBeUndefined();
  });

  test('the command "tool <name>" starts a task of exactly one call', async () => {
    const whole = await sharedStage();
    const client = await clientOf(whole.server);
    const args = ['list-files', '{"path":"."}'];
    const listed = await client.call(EXECUTE, { command: 'tool', args, workspace: whole.server.workspace });
    expect(listed.structuredContent).toMatchObject({
      state: 'completed',
      calls: [{ tool: 'list-files', state: 'ok' }],
    });
    expect(await whole.peer.list()).toHaveLength(1);
  });

  test('if the server refuses the token, the list of the commands, a command and an abort say so', async () => {
    const { server } = await sharedStage();
    const client = await clientOf({ url: server.url, token: 'wrong' });
    for (const [tool, args] of [
      [LIST, {}],
      [EXECUTE, { command: 'help' }],
      [ABORT, { toolId: 'x' }],
    ] as const) {
      const text = textOf(await client.call(tool, args));
      expect(text).toContain("does not accept the bridge's credentials");
      expect(text).not.toContain('not A2A');
    }
  });

  test('an unknown command returns a list of the commands, and starts no task', async () => {
    const whole = await sharedStage();
    const client = await clientOf(whole.server);
    const refused = await client.call(EXECUTE, { command: 'chekpoint list' });
    expect(refusalOf(refused)).toMatch(
      /There is no command "chekpoint list"\. The commands are: init, checkpoint list/,
    );
    const failed = await client.call(EXECUTE, { command: 'checkpoint show', args: ['none.1'] });
    expect(failed.structuredContent).toMatchObject({ state: 'failed' });
    expect(textOf(failed)).toContain('There is no checkpoint "none.1".');
    const { sessions } = z
      .object({ sessions: z.array(z.looseObject({ title: z.string() })) })
      .parse((await client.call('list_all_active_sessions', {})).structuredContent);
    expect(sessions.map(({ title }) => title)).toEqual(['/checkpoint show none.1']);
  });
});

describe('the commands of gemini-cli’s agent', () => {
  test('the agent lists its commands, and the result of a command arrives at once, without a session', async () => {
    const agent = await gemini();
    const client = await clientOf(agent);
    expect((await client.call(LIST, {})).structuredContent).toMatchObject({
      agents: [{ commands: [{ name: 'restore' }, { name: 'restore list' }, { name: 'init' }] }],
    });
    const listed = await client.call(EXECUTE, { command: 'restore list' });
    expect(listed.structuredContent).toMatchObject({
      state: 'completed',
      output: '[{"checkpoint":"one"}]',
    });
    expect(agent.requests).toContain('/executeCommand {"command":"restore list","args":[]}');
    const restored = await client.call(EXECUTE, { command: 'restore', args: ['one'] });
    expect(textOf(restored)).toContain('load_history');
    const failed = await client.call(EXECUTE, { command: 'restore' });
    expect(failed.structuredContent).toMatchObject({ state: 'failed' });
  });

  test('the agent refuses an unknown command, and the bridge refuses a command that gemini-cli runs as a hidden task', async () => {
    const client = await clientOf(await gemini());
    const unknown = await client.call(EXECUTE, { command: 'memory' });
    expect(textOf(unknown)).toContain('Command not found: memory');
    expect(unknown.isError).toBe(true);
    const streamed = await client.call(EXECUTE, { command: 'init' });
    expect(textOf(streamed)).toContain('list_all_active_sessions');
    expect(streamed.isError).toBe(true);
  });

  test('with --approvals human-only the bridge runs no command, because the agent does not ask the person first', async () => {
    const agent = await gemini();
    const client = await clientOf(agent, ['--approvals', 'human-only']);
    expect((await client.call(EXECUTE, { command: 'restore', args: ['one'] })).isError).toBe(true);
    expect(agent.requests).not.toContain('/executeCommand {"command":"restore","args":["one"]}');
  });
});

test('for an agent without commands, the result says that there are none, and the bridge sends nothing', async () => {
  const agent = await plainAgent('1.0');
  closeAfterTest(() => agent.stop());
  const client = await clientOf(agent);
  expect(textOf(await client.call(LIST, {}))).toContain('offers no commands');
  const refused = await client.call(EXECUTE, { command: 'init' });
  expect(refusalOf(refused)).toContain('offers no commands');
});
