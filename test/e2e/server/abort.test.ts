/** Tests that an abort stops one tool execution and nothing else. */
import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { z } from 'zod';
import { decisionOn } from '../../support/a2a-message.ts';
import { A2aPeer } from '../../support/a2a-peer.ts';
import { untilFileContains } from '../../support/file-watch.ts';
import { makeGate } from '../../support/gate.ts';
import { jsonOf } from '../../support/rpc-answer.ts';
import { plan, shell, wait } from '../../support/offline-plan.ts';
import { runningProcesses } from '../../support/process-group.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { stage, stageAgain } from '../../support/stage.ts';

const AUTO = { settings: { autoExecute: true } };
/** Returns the JSON of `GET /api/tools`. */
async function underWay(peer: A2aPeer): Promise<unknown> {
  const listed = await jsonOf(await peer.request('/api/tools', { method: 'GET' }));
  return z.strictObject({ tools: z.array(z.unknown()) }).parse(listed).tools;
}

/** A command with child processes that runs longer than a test. If a test fails, the command still ends by itself. */
const LONG = 'sleep 90 & sleep 90 & wait';
/** Prints `running` when all of its processes run. */
const GROUP_OF_THREE = 'sleep 90 & sleep 90 & echo running; wait';

describe('POST /api/tools/abort/:toolId', () => {
  it('R40 every tool execution has a toolId in the events and in the task, and an abort uses it', async () => {
    const { peer } = await sharedStage();
    const first = await peer.stream(plan(shell(`echo running; ${LONG}`), { say: 'We end.' }));
    const { taskId, pending } = await first.parked();
    const second = await peer.decide(taskId, [decisionOn(pending, 'approve')]);
    const toolId = await second.output('running');
    const started = second.seen.find(({ activity }) => activity?.type === 'tool.started');
    expect(started?.activity).toMatchObject({ toolId, callId: pending[0]?.callId });
    expect(toolId).toMatch(/^run-shell-command-\d+-[0-9a-f]+$/);
    expect((await peer.task(taskId)).overview.calls).toMatchObject([
      { toolId, state: 'running', startedAt: expect.stringMatching(/^20.*Z$/) },
    ]);

    const { success, message } = await peer.abort(toolId, 'it takes too long');
    expect({ success, message }).toEqual({ success: true, message: expect.stringContaining(toolId) });
    const events = await second.rest();
    const finished = events.find(({ activity }) => activity?.type === 'tool.finished');
    expect(finished?.activity).toMatchObject({ toolId, outcome: 'stopped', stopReason: 'abort-request' });
    expect(finished?.activity).toMatchObject({ summary: expect.stringContaining('it takes too long') });
    // The task continues, and the model gets the reason.
    expect(events.at(-1)?.state).toBe('COMPLETED');
    expect((await peer.task(taskId)).text).toMatch(/it takes too long[^]*running[^]*We end\./);
  });

  it('R40 GET /api/tools lists the caller’s running tools, with their age and last output', async () => {
    const { peer } = await sharedStage();
    const { peer: other } = await sharedStage();
    expect(await underWay(peer)).toEqual([]);
    const stream = await peer.stream(plan(shell(`echo first; echo running; ${LONG}`)), AUTO);
    const toolId = await stream.output('running');
    const [{ taskId, sessionId } = { taskId: '', sessionId: '' }] = stream.seen;
    expect(await underWay(peer)).toEqual([
      {
        toolId,
        taskId,
        sessionId,
        tool: 'run-shell-command',
        title: expect.stringContaining('echo first'),
        callId: expect.stringMatching(/^call-/),
        startedAt: expect.stringMatching(/^20.*Z$/),
        ageMs: expect.any(Number),
        progress: 'running',
      },
    ]);
    expect(await underWay(other)).toEqual([]);
    await peer.abort(toolId);
    expect(await underWay(peer)).toEqual([]);
  });

  it('R41 for an unknown, finished or aborted toolId, the answer is a failure with the reason', async () => {
    const { peer } = await sharedStage();
    expect(await peer.abort('run-shell-command-1-none')).toMatchObject({
      success: false,
      message: expect.stringContaining('There is no tool execution'),
    });
    const done = await peer.stream(plan(shell('echo out')), AUTO);
    const finished = await done.output('out');
    await done.rest();
    expect(await peer.abort(finished)).toMatchObject({
      success: false,
      message: expect.stringContaining('already finished'),
    });
    const stream = await peer.stream(plan(shell(`echo running; ${LONG}`)), AUTO);
    const toolId = await stream.output('running');
    const answers = await Promise.all([peer.abort(toolId), peer.abort(toolId)]);
    const again = {
      success: false,
      message: expect.stringContaining('already aborted. This request changed nothing'),
    };
    expect(answers).toContainEqual({
      success: true,
      message: expect.stringContaining('Successfully aborted'),
    });
    expect(answers).toContainEqual(again);
    expect(await peer.abort(toolId)).toEqual(again);
    expect((await stream.rest()).at(-1)?.state).toBe('COMPLETED');
  });

  it('R41 after a restart, the server still knows the tool executions and their owners', async () => {
    const tokens = { A2A_SERVER_TOKENS: `bob=${'b'.repeat(32)}` };
    const at = await stage({ env: tokens });
    const stream = await at.peer.stream(plan(shell(`echo running; ${LONG}`)), AUTO);
    const toolId = await stream.output('running');
    const bob = new A2aPeer({ url: at.server.url, token: 'b'.repeat(32) });
    expect(await bob.abort(toolId)).toMatchObject({
      success: false,
      message: expect.stringContaining('There is no tool execution'),
    });
    await at.server.kill();
    const { peer } = await stageAgain(at);
    expect(await peer.abort(toolId)).toMatchObject({
      success: false,
      message: expect.stringContaining('already finished'),
    });
  });

  it('R41 an abort of a malformed id, or of an id with path separators, fails', async () => {
    const { peer } = await sharedStage();
    for (const id of ['x'.repeat(10_000), '..%2F..%2Fetc', '%00', 'a%20b', '%F0%9F%A6%84']) {
      const { success, message } = await peer.abort(id);
      expect([success, message.startsWith('There is no tool execution'), message.length < 300]).toEqual([
        false,
        true,
        true,
      ]);
    }
    for (const path of ['/api/tools/abort/', '/api/tools/abort/a/b'])
      expect((await peer.request(path)).status).toBe(404);
    expect((await peer.request('/api/tools/abort/%E0%A4%A')).status).toBe(400);
  });

  it('R41 a second abort of a tool that is stopping changes nothing, and the tool ends once', async () => {
    const { server, peer } = await sharedStage();
    const gate = await makeGate(server.workspace);
    // After SIGTERM, this command ends only when the test writes to the gate.
    const farewell = `trap 'echo told > told.txt; ${gate.wait}; exit' TERM`;
    const stream = await peer.stream(plan(shell(`${farewell}; echo running; sleep 90 & wait`)), AUTO);
    const toolId = await stream.output('running');
    const first = peer.abort(toolId);
    await untilFileContains(join(server.workspace, 'told.txt'), 'told');
    const second = peer.abort(toolId);
    // The answer to this later request shows that the second abort request has arrived.
    await peer.list();
    await gate.pass();
    expect(await first).toMatchObject({ success: true });
    expect(await second).toMatchObject({
      success: false,
      message: expect.stringContaining('already aborted'),
    });
    const finished = (await stream.rest()).filter(({ activity }) => activity?.type === 'tool.finished');
    expect(finished).toHaveLength(1);
  });

  it('R42 an abort stops one of several tools and no other', async () => {
    const { server, peer } = await sharedStage();
    const gate = await makeGate(server.workspace);
    // One task runs two tools in parallel in one turn. Another task runs one tool.
    const waits = await peer.stream(plan({ together: [wait(3600), wait(3600)] }));
    const ids: string[] = [];
    while (ids.length < 2) {
      const { activity } = await waits.until((event) => event.activity?.type === 'tool.started');
      if (activity?.type === 'tool.started') ids.push(activity.toolId);
    }
    const [one = '', two = ''] = ids;
    const other = await peer.stream(plan(shell(`echo running; ${gate.wait}`)), AUTO);
    await other.output('running');

    expect(await peer.abort(one)).toMatchObject({ success: true });
    await waits.until(({ activity }) => activity?.type === 'tool.finished' && activity.toolId === one);
    const { taskId = '' } = waits.seen[0] ?? {};
    const { calls } = (await peer.task(taskId)).overview;
    expect(calls.map(({ toolId, state }) => [toolId, state])).toEqual([
      [one, 'stopped'],
      [two, 'running'],
    ]);
    await gate.pass();
    const ended = await other.rest();
    expect(ended.map(({ activity }) => activity)).toContainEqual(expect.objectContaining({ outcome: 'ok' }));
    expect(await peer.abort(two)).toMatchObject({ success: true });
    expect((await waits.rest()).at(-1)?.state).toBe('COMPLETED');
  });

  it('R43 an abort of a shell command ends its whole process group', async () => {
    const { peer, file } = await sharedStage();
    const stream = await peer.stream(plan(shell(`echo $$ > group.txt; ${GROUP_OF_THREE}`)), AUTO);
    const toolId = await stream.output('running');
    const group = Number(await file('group.txt'));
    expect(await runningProcesses(group)).toBe(3);
    expect(await peer.abort(toolId)).toMatchObject({ success: true });
    expect(await runningProcesses(group)).toBe(0);
    await stream.rest();
  });

  it('R43 a command that ignores SIGTERM is killed after the grace period, and is reported as stopped', async () => {
    const { peer, file } = await sharedStage();
    const deaf = `trap '' TERM; echo $$ > group.txt; echo running; ${LONG}`;
    const stream = await peer.stream(plan(shell(deaf)), AUTO);
    const toolId = await stream.output('running');
    const group = Number(await file('group.txt'));
    const { success, message } = await peer.abort(toolId);
    expect(await runningProcesses(group)).toBe(0);
    expect({ success, message }).toEqual({
      success: true,
      message: `Successfully aborted tool execution: ${toolId}`,
    });
    await stream.rest();
  });
});
