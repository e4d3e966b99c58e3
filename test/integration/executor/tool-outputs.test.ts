/**
 * Tests tool outputs: they are streamed, stored in full, and readable by the model. Uses real processes and a real
 * journal.
 */
import { describe, expect, it } from '@jest/globals';
import type { Artifact } from '@a2a-js/sdk';
import { z } from 'zod';
import { toStreamResponse } from '../../../a2a-server/http/wire/event-projection.ts';
import { toA2aTask } from '../../../a2a-server/http/wire/task-projection.ts';
import { createToolOutputReader } from '../../../a2a-server/executor/tool-executions/output-reader.ts';
import type { JournalEntry } from '../../../a2a-server/task/events.ts';
import { foldAll, foldEntries } from '../../../a2a-server/task/fold.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { builtinTools } from '../../../a2a-server/tools/builtin/builtin-tools.ts';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import { testTool } from '../../support/look-tool.ts';
import type { ScriptedTurn } from '../../support/scripted-model.ts';
import { messageOf, startScripted, sendUntilSettled } from '../../support/task-service.ts';

const LONG = Array.from({ length: 20_000 }, (_, n) => `record ${n}\n`).join('');

/** Returns more text than a model reads at once, as a tool of an MCP server may do. */
const dump = testTool({
  name: 'dump',
  schema: z.strictObject({}),
  run: async () => ({ text: LONG, summary: 'dumped' }),
});

function agent(turns: ScriptedTurn[]) {
  let journal: Journal | undefined;
  const tools = [
    dump,
    ...builtinTools({
      outputs: async (toolId, reader) => journal && createToolOutputReader(journal)(toolId, reader),
    }),
  ];
  return startScripted(turns, { tools, mode: 'auto', between: (opened) => (journal = opened) });
}

const calls = (tool: string, input: Record<string, unknown>): ScriptedTurn => ({ calls: [{ tool, input }] });
const resultOf = (snapshot: Snapshot, tool: string): string => {
  const state = Object.values(snapshot.calls).find((call) => call.tool === tool)?.state;
  const result = state?.type === 'settled' ? state.result : undefined;
  if (result?.type !== 'ran') throw new Error(`${tool} has not run`);
  return result.outcome.type === 'error' ? result.outcome.message : result.outcome.text;
};

async function entriesOf(
  { tasks }: Awaited<ReturnType<typeof agent>>,
  taskId: string,
): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  const { signal } = new AbortController();
  for await (const batch of tasks.follow(taskId, 0, { until: 'settled', signal })) entries.push(...batch);
  return entries;
}

/** Collects the artifacts of a client without extensions: first from the task, then from the events. */
function gathered(artifacts: Map<string, string>, entries: readonly JournalEntry[]): Map<string, string> {
  for (const entry of entries) {
    const payload = toStreamResponse(entry, VIEW)?.payload;
    if (payload?.$case !== 'artifactUpdate' || payload.value.artifact === undefined) continue;
    const { artifact, append } = payload.value;
    const before = append ? artifacts.get(artifact.artifactId) : '';
    if (before === undefined) throw new Error(`${artifact.artifactId} is appended to and was never sent`);
    artifacts.set(artifact.artifactId, before + textOf(artifact));
  }
  return artifacts;
}

const VIEW = { taskId: 't', sessionId: 's', approval: false, resumable: false };
const textOf = ({ parts }: Artifact): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
const shownIn = (snapshot: Snapshot | undefined): Map<string, string> =>
  new Map(
    (snapshot ? toA2aTask(snapshot, VIEW).artifacts : []).map((each) => [each.artifactId, textOf(each)]),
  );

describe('the output of a tool', () => {
  it('S1 a client without extensions gets the output of a tool as one growing artifact, from any cursor', async () => {
    const service = await agent([
      calls('run-shell-command', { command: 'for i in 1 2 3; do echo line $i; sleep 0.1; done' }),
    ]);
    const { taskId } = await sendUntilSettled(service.tasks, messageOf('go'));
    const entries = await entriesOf(service, taskId);
    const whole = shownIn(foldAll(taskId, entries));
    const output = [...whole].find(([id]) => id.startsWith('output-run-shell-command'));
    expect(output?.[1]).toBe('line 1\nline 2\nline 3\n');
    for (let cut = 1; cut <= entries.length; cut += 1) {
      const seen = gathered(shownIn(foldAll(taskId, entries.slice(0, cut))), entries.slice(cut));
      // A turn gets its artifact with its first words. A turn without words may have none.
      for (const [id, text] of whole) expect(seen.get(id)).toBe(text);
    }
  });

  it('J2 a snapshot has the complete output of a tool, from any event at which the fold continues', async () => {
    const service = await agent([calls('dump', {})]);
    const { taskId } = await sendUntilSettled(service.tasks, messageOf('go'));
    const entries = await entriesOf(service, taskId);
    const whole = foldAll(taskId, entries);
    expect(whole?.outputs.map(({ text }) => text)).toEqual([LONG]);
    const some = foldAll(taskId, entries.slice(0, 7));
    expect(some && foldEntries(some, entries.slice(7))).toEqual(whole);
  });
});

describe('a tool result that is too long for a model', () => {
  it('the whole result is stored; the model gets its first and last part, and can read or search the rest', async () => {
    const service = await agent([calls('dump', {})]);
    const ended = await sendUntilSettled(service.tasks, messageOf('go'));
    const told = resultOf(ended, 'dump');
    expect(told.length).toBeLessThan(31_000);
    expect(told).toMatch(/^record 0\n/);
    expect(told).toContain('record 19999\n');
    const [, toolId = ''] = /read-output with toolId "([^"]+)"/.exec(told) ?? [];
    const read = async (input: Record<string, unknown>) => {
      service.models.add(calls('read-output', { toolId, ...input }));
      const after = await sendUntilSettled(service.tasks, messageOf('on', { sessionId: ended.sessionId }));
      return resultOf(after, 'read-output');
    };
    let together = '';
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const page = await read({ offset, limit: 50_000 });
      const note: RegExpExecArray | null = /\n\[Characters .*?(?:offset (\d+))?\]$/.exec(page);
      together += page.slice(0, note?.index);
      offset = note?.[1] === undefined ? undefined : Number(note[1]);
    }
    expect(together).toBe(LONG);
    const found = await read({ find: 'record 12345\n' });
    expect(found).toContain(`[at ${LONG.indexOf('record 12345\n')}]`);
    expect(await read({ find: 'no such record' })).toContain('does not contain that text');
    expect(await read({ offset: LONG.length })).toContain('beyond its end');
  });

  it('X1 a stored result can be read only in its own session', async () => {
    const service = await agent([calls('dump', {}), { text: 'done' }]);
    const ended = await sendUntilSettled(service.tasks, messageOf('go'));
    const toolId = Object.values(ended.calls)[0]?.toolId ?? '';
    service.models.add(calls('read-output', { toolId }), { text: 'done' });
    const other = await sendUntilSettled(service.tasks, messageOf('go'));
    expect(resultOf(other, 'read-output')).toContain(
      `There is no tool execution "${toolId}" in this session`,
    );
  });

  it('a long result of a shell command is stored as far as it was streamed, and the note names the stored result', async () => {
    const service = await agent([calls('run-shell-command', { command: 'seq 1 30000' })]);
    const ended = await sendUntilSettled(service.tasks, messageOf('go'));
    expect(resultOf(ended, 'run-shell-command')).toMatch(
      /characters left out[^]*read-output with toolId "run-shell/,
    );
    expect(ended.outputs[0]?.text).toContain('\n15000\n');
  });
});
