/** Tests modes, limited grants and revoked grants, from the bridge's tools to a real server. */
import { actionOf } from '../../support/a2a-message.ts';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type SharedStage, sharedLocalStage } from '../../support/shared-stage.ts';
import { CHECK, DECIDE, DELEGATE, startClient } from './support/bridge-stage.ts';
import type { RawClient } from './support/raw-client.ts';
import { plan, shell, write } from '../../support/offline-plan.ts';

const REVOKE = 'revoke_trust';

async function clientAt({ server }: SharedStage, ...args: string[]): Promise<RawClient> {
  return startClient(server, { args });
}

const waiting = z.looseObject({
  sessionId: z.string(),
  pending: z.array(z.looseObject({ callId: z.string(), shown: z.string() })),
});

function pendingOf(structured: unknown): { sessionId: string; callId: string; shown: string } {
  const found = waiting.parse(structured);
  return { sessionId: found.sessionId, ...actionOf(found.pending) };
}

describe('trust that lets later calls run without a question', () => {
  test('R12 a trust grant has a limit of uses, the status shows the grant, and a client can revoke it', async () => {
    const on = await sharedLocalStage();
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
      grants: [
        expect.stringMatching(
          /^g\d+: write-file, until .*, 5 uses left, by the local user in a tool call of the MCP client$/,
        ),
      ],
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

  test('R10 an edit of a shell command needs only the new command line', async () => {
    const on = await sharedLocalStage();
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

describe('the mode of a task', () => {
  test('a mode applies only to the task that names it: "accept-edits" changes files without a question and asks about commands', async () => {
    const on = await sharedLocalStage();
    const client = await clientAt(on);
    const task = { task: plan(write('a.md', 'a'), shell('true')), workspace: on.server.workspace };
    const asked = await client.call(DELEGATE, { ...task, mode: 'accept-edits' });
    expect(asked.structuredContent).toMatchObject({ pending: [{ tool: 'run-shell-command' }] });
    expect(await on.file('a.md')).toBe('a');
    const contradictory = await client.call(DELEGATE, { ...task, mode: 'plan', autoExecute: true });
    expect(contradictory).toMatchObject({ isError: true });
  });

  test('with human-only, a task cannot have a mode that runs without questions', async () => {
    const client = await clientAt(await sharedLocalStage(), '--approvals', 'human-only');
    for (const mode of ['auto', 'accept-edits'])
      expect(await client.call(DELEGATE, { task: 'create a.md with a', mode })).toMatchObject({
        isError: true,
      });
  });
});
