/** Modes, trust with an end, and trust taken back: from the bridge's tools to a real server and back. */
import { actionOf } from '../../support/a2a-message.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { stage, type Stage } from '../../support/stage.ts';
import { type BridgeProgram, builtBridge } from './support/bridge-program.ts';
import { RawClient } from './support/raw-client.ts';
import { plan, shell, write } from '../../support/offline-plan.ts';

const DELEGATE = 'delegate_task_to_assistant';
const DECIDE = 'approve_or_deny_pending_action';
const CHECK = 'check_task_progress_and_status';
const REVOKE = 'revoke_trust';

let program: BridgeProgram;
const open: RawClient[] = [];

beforeAll(async () => {
  program = await builtBridge();
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.kill();
});
afterAll(() => program.remove());

async function clientAt({ server }: Stage, ...args: string[]): Promise<RawClient> {
  const stateDir = await mkdtemp(join(program.directory, 'state-'));
  const { url: agentUrl, token } = server;
  const client = await RawClient.start(program, { stateDir, agentUrl, token, args });
  open.push(client);
  return client;
}

const waiting = z.looseObject({
  sessionId: z.string(),
  pending: z.array(z.looseObject({ callId: z.string(), shown: z.string() })),
});

function pendingOf(structured: unknown): { sessionId: string; callId: string; shown: string } {
  const found = waiting.parse(structured);
  return { sessionId: found.sessionId, ...actionOf(found.pending) };
}

describe('trust', () => {
  test('R12 is given for so many uses, shown in the status, and taken back', async () => {
    const on = await stage();
    const client = await clientAt(on);
    const asked = await client.call(DELEGATE, {
      task: plan(write('a.md', 'a'), shell('true'), write('b.md', 'b')),
      workspace: on.server.workspace,
    });
    const { sessionId, ...action } = pendingOf(asked.structuredContent);
    const trust = { decision: 'trust_tool', trustMinutes: 10, trustUses: 5 };
    const next = await client.call(DECIDE, { sessionId, ...action, ...trust });
    const status = await client.call(CHECK, { sessionId });
    expect(status.structuredContent).toMatchObject({
      grants: [expect.stringMatching(/^g\d+: write-file, until .*, 5 uses left, by local over tool$/)],
    });
    await expect(client.call(REVOKE, { sessionId, grantIds: ['g99'] })).resolves.toMatchObject({
      isError: true,
    });
    const revoked = await client.call(REVOKE, { sessionId, all: true });
    expect(revoked.structuredContent).toMatchObject({ grants: [] });
    const last = await client.call(DECIDE, {
      ...pendingOf(next.structuredContent),
      decision: 'approve',
    });
    expect(last.structuredContent).toMatchObject({
      state: 'input_required',
      pending: [{ title: 'Write b.md' }],
    });
  });

  test('R10 a command is edited by its command line alone', async () => {
    const on = await stage();
    const client = await clientAt(on);
    const started = await client.call(DELEGATE, { task: 'run `echo one`', workspace: on.server.workspace });
    const { sessionId, ...action } = pendingOf(started.structuredContent);
    const done = await client.call(DECIDE, {
      sessionId,
      ...action,
      decision: 'edit',
      editedContent: 'echo two',
    });
    expect(done.structuredContent).toMatchObject({
      state: 'completed',
      output: expect.stringContaining('two'),
    });
  });
});

describe('a mode', () => {
  test('is given with the task: accept-edits changes files and asks for commands', async () => {
    const on = await stage();
    const client = await clientAt(on);
    const task = { task: plan(write('a.md', 'a'), shell('true')), workspace: on.server.workspace };
    const asked = await client.call(DELEGATE, { ...task, mode: 'accept-edits' });
    expect(asked.structuredContent).toMatchObject({ pending: [{ tool: 'run-shell-command' }] });
    expect(await on.file('a.md')).toBe('a');
    const contradictory = await client.call(DELEGATE, { ...task, mode: 'plan', autoExecute: true });
    expect(contradictory).toMatchObject({ isError: true });
  });

  test('that acts unasked is not given where only the person decides', async () => {
    const client = await clientAt(await stage(), '--approvals', 'human-only');
    for (const mode of ['auto', 'accept-edits'])
      expect(await client.call(DELEGATE, { task: 'create a.md with a', mode })).toMatchObject({
        isError: true,
      });
  });
});
