/**
 * Tests a client that repeats a decision after the question has changed. Client, bridge and server are real
 * processes.
 */
import { describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { makeGate } from '../../support/gate.ts';
import { append, plan, shell } from '../../support/offline-plan.ts';
import { stage, stageAgain, type Stage } from '../../support/stage.ts';
import { DECIDE, DELEGATE, startClient } from './support/bridge-stage.ts';
import { type RawClient, textOf, type ToolResult, refusalOf } from './support/raw-client.ts';

const report = z.object({
  sessionId: z.string(),
  state: z.string(),
  pending: z.array(
    z.object({ callId: z.string(), shown: z.string(), reason: z.string(), preview: z.string() }),
  ),
});

const reportIn = ({ structuredContent }: ToolResult): z.infer<typeof report> =>
  report.parse(structuredContent);

/** Returns the arguments that approve the only action of a result. */
function approvalOf(asked: ToolResult): Record<string, unknown> {
  const { sessionId, pending } = reportIn(asked);
  const [action] = pending;
  if (action === undefined) throw new Error('nothing is pending');
  return { sessionId, callId: action.callId, shown: action.shown, decision: 'approve' };
}

describe('a client that repeats its decision after the server has asked about the call again', () => {
  let client: RawClient;

  const delegate = ({ server: { workspace } }: Stage, task: string): Promise<ToolResult> =>
    client.call(DELEGATE, { task, workspace });

  test('R91 if a kill lost the outcome of a command, the bridge refuses the repeated approval, shows the new question and runs nothing', async () => {
    const before = await stage();
    client = await startClient(before.server);
    const gate = await makeGate(before.server.workspace);
    const command = `echo $$ >> effects.txt; echo done; ${gate.wait}`;
    const asked = await delegate(before, plan(shell(command), { say: 'We end.' }));
    const approval = approvalOf(asked);
    const { taskId } = await before.peer.task(String(asked.structuredContent?.['taskId']));
    const following = await before.peer.follow(taskId);
    // The test kills the bridge while the command runs, so this call gets no answer.
    void client.call(DECIDE, approval).catch(() => undefined);
    await following.output('done');
    await client.kill();
    await before.server.kill();

    const after = await stageAgain(before);
    client = await startClient(after.server);
    await after.peer.follow(taskId).then((stream) => stream.parked());
    const again = await client.call(DECIDE, approval);
    expect(refusalOf(again)).toContain('is not what was shown');
    expect(textOf(again)).toContain('outcome-unknown');
    const [question] = reportIn(again).pending;
    expect(question).toMatchObject({ reason: 'outcome-unknown', callId: approval['callId'] });
    expect(question?.shown).not.toBe(approval['shown']);
    expect((await after.file('effects.txt'))?.match(/\n/g)).toHaveLength(1);
    expect((await client.call(DECIDE, approval)).isError).toBe(true);
    expect((await after.peer.task(taskId)).text).not.toContain('We end.');
    expect((await after.file('effects.txt'))?.match(/\n/g)).toHaveLength(1);

    const done = await client.call(DECIDE, { ...approvalOf(again), decision: 'deny' });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect((await after.file('effects.txt'))?.match(/\n/g)).toHaveLength(1);
  }, 180_000);

  test('R91 if the file has changed, another bridge refuses the repeated approval and shows the current diff', async () => {
    const on = await stage();
    client = await startClient(on.server);
    const approval = approvalOf(await delegate(on, plan(append('notes.md', 'mine\n'), { say: 'Done.' })));
    await writeFile(join(on.server.workspace, 'notes.md'), 'theirs\n');
    const asked = await client.call(DECIDE, approval);
    expect(reportIn(asked).pending).toMatchObject([{ reason: 'content-changed' }]);
    await client.kill();

    client = await startClient(on.server);
    const again = await client.call(DECIDE, approval);
    expect(again.isError).toBe(true);
    expect(reportIn(again).pending).toMatchObject([{ preview: expect.stringContaining(' theirs') }]);
    expect(await on.file('notes.md')).toBe('theirs\n');
    const done = await client.call(DECIDE, approvalOf(again));
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(await on.file('notes.md')).toBe('theirs\nmine\n');
  });

  test('R91 the bridge refuses a decision without a code, and a decision with a wrong code has no effect', async () => {
    const on = await stage();
    client = await startClient(on.server);
    const { shown, ...without } = approvalOf(
      await delegate(on, plan(append('notes.md', 'mine\n'), { say: 'Done.' })),
    );
    expect(textOf(await client.call(DECIDE, without))).toContain('Give callId, shown and decision');
    const wrong = await client.call(DECIDE, { ...without, shown: '00000000' });
    expect(wrong.isError).toBe(true);
    expect(reportIn(wrong).pending).toMatchObject([{ shown }]);
    expect(await on.file('notes.md')).toBeUndefined();
  });
});
