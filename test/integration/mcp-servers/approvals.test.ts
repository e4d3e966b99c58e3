/** Tests tasks with tools of MCP servers. Approval, execution, abort and records must work as for any tool. */
import { describe, expect, it } from '@jest/globals';
import type { RunningTaskService } from '../../../a2a-server/executor/task-service.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { peerSettings, PEER_KINDS, startPeer } from '../../support/mcp-peer/peer-process.ts';
import { isDown, isReady, mcpStage, type McpStage, readyPeer } from '../../support/mcp-peer/mcp-stage.ts';
import { type ScriptedTurn } from '../../support/scripted-model.ts';
import {
  ADA,
  decisionMessage,
  messageOf,
  untilSettled,
  sendUntilSettled,
  startScripted,
  decideUntilSettled,
} from '../../support/task-service.ts';
import { PEER_TOOLS } from '../../support/mcp-peer/session.ts';

async function taskWith(stage: McpStage, turns: ScriptedTurn[], settings = {}) {
  const { tasks, clock, models } = await startScripted(turns, { supply: stage.servers });
  const accepted = await tasks.send(messageOf('go', { settings }));
  return { tasks, clock, models, accepted, first: () => untilSettled(tasks, accepted) };
}

/** Follows the task from `seq` until it waits or ends. Returns its snapshot. */
async function untilParkedAgain(
  tasks: RunningTaskService,
  { taskId, seq }: { taskId: string; seq: number },
): Promise<Snapshot> {
  const { signal } = new AbortController();
  for await (const _ of tasks.follow(taskId, seq, { until: 'settled', signal }));
  return tasks.snapshot(taskId, { principal: ADA });
}

function callsIn({ calls }: Snapshot) {
  return Object.values(calls);
}

const note = (text: string) => ({ tool: 'mcp__peer__note', input: { text } });

describe.each(PEER_KINDS)('the approval of a tool of an MCP server over %s', (kind) => {
  it('R80 the call waits for a decision, the question shows server, tool and arguments, and the call runs after the approval', async () => {
    const stage = await readyPeer(kind);
    const { tasks, first, models } = await taskWith(stage, [{ calls: [note('one'), note('two')] }]);
    const parked = await first();
    expect(parked.status).toMatchObject({
      state: 'input-required',
      pending: [
        {
          tool: 'mcp__peer__note',
          sideEffect: 'other',
          source: { type: 'mcp-server', server: 'peer' },
          preview: { type: 'json', value: { text: 'one' } },
        },
        { tool: 'mcp__peer__note' },
      ],
    });
    const [one, two] = callsIn(parked).map(({ callId }) => callId);
    await tasks.send(decisionMessage(parked, { callId: one ?? '', decision: 'approve' }));
    const deny = decisionMessage(parked, { callId: two ?? '', decision: 'deny' });
    const ended = await sendUntilSettled(tasks, deny);
    expect(ended.status.state).toBe('completed');
    expect(callsIn(ended).map(({ state }) => state)).toMatchObject([
      { result: { type: 'ran', outcome: { type: 'ok', text: expect.stringMatching(/^note: one/) } } },
      { result: { type: 'denied' } },
    ]);
    const declared = models.requests[0]?.tools.find(({ name }) => name === 'mcp__peer__note');
    expect(declared).toMatchObject({
      description: 'Does note.',
      inputSchema: { type: 'object', properties: { text: { description: 'What.' } } },
    });
  });
});

describe('a tool of an MCP server', () => {
  it('R83 a tool stops at its server’s time limit, and its result says so; the connection stays open', async () => {
    const stage = await readyPeer('sse', { timeout: '90s' });
    const turns = [{ calls: [{ tool: 'mcp__peer__never', input: {} }] }];
    const { tasks, clock, accepted } = await taskWith(stage, turns, { autoExecute: true });
    while (tasks.running().length === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(90_000);
    const ended = await untilSettled(tasks, accepted);
    expect(callsIn(ended)[0]?.state).toMatchObject({
      result: { outcome: { type: 'stopped', reason: 'timeout', confirmed: false } },
    });
    while ((await stage.call('cancelled')) === '[]');
    expect(await stage.status(isReady)).toMatchObject({ state: 'ready' });
  });

  it.each([
    ['the cancel of its task', 'The task was cancelled: the plan has changed'],
    ['its abort', 'Aborted on request: the plan has changed'],
  ])('R83 a tool gets the reason of %s', async (what, reason) => {
    const stage = await readyPeer('stdio');
    const turns = [{ calls: [{ tool: 'mcp__peer__never', input: {} }] }];
    const { tasks, accepted } = await taskWith(stage, turns, { autoExecute: true });
    while (tasks.running().length === 0) await new Promise((resolve) => setImmediate(resolve));
    const { principal, toolId } = tasks.running()[0] ?? { principal: '', toolId: '' };
    if (what === 'its abort') await tasks.abortTool(toolId, { principal }, 'the plan has changed');
    else await tasks.cancel(accepted.taskId, { principal, channel: 'test' }, 'the plan has changed');
    let seen = '[]';
    while (seen === '[]') seen = await stage.call('cancelled');
    expect(JSON.parse(seen)).toEqual([reason]);
  });

  it.each(PEER_KINDS)(
    '002 the journal contains the answer that a tool over %s sends after its time limit',
    async (kind) => {
      const stage = await readyPeer(kind, { timeout: '90s' });
      const slow = { calls: [{ tool: 'mcp__peer__slow', input: { text: 'page 1' } }] };
      // After the call the task continues, and waits for the next decision.
      const { tasks, clock, accepted } = await taskWith(stage, [slow, { calls: [note('one')] }]);
      const asked = await untilSettled(tasks, accepted);
      const approved = await tasks.send(decisionMessage(asked, { decision: 'approve' }));
      while (tasks.running().length === 0) await new Promise((resolve) => setImmediate(resolve));
      await stage.call('note', { text: 'the call has arrived' });
      clock.advance(90_000);
      const waiting = await untilParkedAgain(tasks, approved);
      const stopped = callsIn(waiting)[0]?.state;
      expect(stopped).toMatchObject({ result: { outcome: { type: 'stopped', reason: 'timeout' } } });
      await stage.call('release');
      const outputs = async () => (await tasks.snapshot(waiting.taskId, { principal: ADA })).outputs;
      while ((await outputs()).length === 0) await new Promise((resolve) => setImmediate(resolve));
      expect((await outputs()).map(({ text }) => text)).toEqual([
        '\n[answered after it was stopped]\ndone at last: page 1\n',
      ]);
    },
  );

  it('002 a result that is too long for the model is stored, and the model learns where it is', async () => {
    const stage = await readyPeer('stdio');
    const big = { calls: [{ tool: 'mcp__peer__big', input: {} }] };
    const { first } = await taskWith(stage, [big], { autoExecute: true });
    const ended = await first();
    const [call] = callsIn(ended);
    const text =
      call?.state.type === 'settled' &&
      call.state.result.type === 'ran' &&
      'text' in call.state.result.outcome
        ? call.state.result.outcome.text
        : '';
    expect(text.length).toBeLessThan(31_000);
    expect(text).toMatch(
      /^first x+\n.*characters.*\n[\s\S]*y+ last\n\[read-output with toolId "[^"]+" shows/,
    );
    expect(ended.outputs[0]?.text).toMatch(/^first x{50000} middle y{50000} last$/);
  });

  it('D4 the server checks a tool’s input against its schema before it asks a person', async () => {
    const stage = await readyPeer('stdio');
    const wrong = { tool: 'mcp__peer__note', input: { text: 1, more: true } };
    const { first } = await taskWith(stage, [{ calls: [wrong] }]);
    expect(callsIn(await first())[0]?.state).toMatchObject({
      result: {
        type: 'refused',
        message: expect.stringMatching(/^The input of mcp__peer__note does not fit: .*additional properties/),
      },
    });
  });

  it('a tool runs without a question if the configuration trusts its server’s read-only hint', async () => {
    const settings = await peerSettings('stdio');
    const stage = await mcpStage({ peer: settings, other: { ...settings, trustHints: true } });
    await stage.status(isReady);
    await stage.status(isReady, 'other');
    const look = { tool: 'mcp__other__look', input: { text: 'free' } };
    const { first, models } = await taskWith(stage, [{ calls: [look] }], { readOnly: true });
    expect((await first()).status.state).toBe('completed');
    const told = models.requests[0]?.tools.map(({ name }) => name).filter((name) => name.startsWith('mcp__'));
    expect(told?.toSorted()).toEqual([
      'mcp__other__cancelled',
      'mcp__other__look',
      'mcp__other__look-and-drop',
    ]);
  });

  it('D2 if the MCP server has redefined the tool since the approval, the person is asked again', async () => {
    const peer = await startPeer('sse');
    const stage = await mcpStage({ peer: { type: 'sse', url: peer.url } });
    await stage.status(isReady);
    const look = { tool: 'mcp__peer__look', input: {} };
    const { tasks, first } = await taskWith(stage, [{ calls: [look] }]);
    const parked = await first();
    await peer.kill();
    await stage.status(isDown);
    // With this fault, the first tool has the same name and another description.
    await peer.again('bad-tools');
    await stage.status(({ error, state }) => state === 'ready' && error !== undefined);
    const [call] = callsIn(parked);
    const asked = await tasks.send(decisionMessage(parked, { decision: 'approve' }));
    const waiting = await untilParkedAgain(tasks, asked);
    expect(waiting.status).toMatchObject({
      state: 'input-required',
      pending: [{ callId: call?.callId, reason: 'content-changed' }],
    });
  });

  it('if a tool no longer exists when its call runs, the model gets an error', async () => {
    const stage = await readyPeer('stdio');
    const { tasks, first } = await taskWith(stage, [{ calls: [note('one')] }]);
    const parked = await first();
    await stage.call('shrink');
    await stage.status(({ tools }) => tools === PEER_TOOLS - 1);
    const ended = await decideUntilSettled(tasks, parked);
    expect(callsIn(ended)[0]?.state).toMatchObject({
      result: {
        outcome: {
          type: 'error',
          message: expect.stringMatching(
            /^There is no tool mcp__peer__note\. The MCP server peer does not have this tool now\. Tools: /,
          ),
        },
      },
    });
  });
});
