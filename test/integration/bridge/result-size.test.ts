/** Tests the size of the results of one session, because a model reads every byte and a person pays for it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { stage, type Stage } from '../../support/stage.ts';
import { type BridgeProgram, builtBridge } from './support/bridge-program.ts';
import { RawClient, type ToolResult, textOf, sessionOf } from './support/raw-client.ts';

const DECIDE = 'approve_or_deny_pending_action';
const OLD = Array.from(
  { length: 40 },
  (_, index) => `export const value${String(index)} = ${String(index)};`,
);
const NEW = OLD.map((line) => line.replace('export const', 'export let'));
const NOTES = Array.from({ length: 30 }, (_, index) => `- note ${String(index)}: what was changed and why\n`);

const SCRIPT = {
  rules: [
    {
      when: { text: 'refactor', turn: 1 },
      do: [
        { text: ['I begin ', 'with the notes ', 'and the values. '.repeat(20)] },
        {
          calls: [
            { tool: 'write-file', input: { path: 'notes.md', content: NOTES.join('') } },
            {
              tool: 'edit-file',
              input: { path: 'values.ts', oldText: OLD.join('\n'), newText: NEW.join('\n') },
            },
          ],
        },
        { text: ['Now I count ', 'the lines. '.repeat(20)] },
        { call: { tool: 'run-shell-command', input: { command: 'wc -l values.ts notes.md' } } },
        { text: ['One thing is open. '.repeat(10)] },
        { inputRequired: 'May the old names stay as aliases, or shall they go?' },
        { text: ['Everything is done. ', 'The values are variables now. '.repeat(20)] },
      ],
    },
  ],
};

const waiting = z.looseObject({ callId: z.string(), shown: z.string().optional(), title: z.string() });
const pendingOf = (result: ToolResult) => z.array(waiting).parse(result.structuredContent?.['pending']);
const firstOf = (result: ToolResult) => waiting.parse(pendingOf(result)[0]);
const ids = z.object({ callId: z.string(), shown: z.string(), title: z.string() });
const question = z.object({ callId: z.string(), shown: z.string() });

describe('the size of the results of a session with five calls', () => {
  let program: BridgeProgram;
  let at: Stage;
  let client: RawClient;
  let stateDir: string;

  beforeAll(async () => {
    program = await builtBridge();
  });
  afterAll(() => program.remove());

  beforeEach(async () => {
    const script = join(program.directory, 'script.json');
    await writeFile(script, JSON.stringify(SCRIPT));
    at = await stage({ args: ['--agent', 'scripted', script] });
    await writeFile(join(at.server.workspace, 'values.ts'), OLD.join('\n'));
    const { url, token } = at.server;
    stateDir = await mkdtemp(join(program.directory, 'state-'));
    client = await RawClient.start(program, { stateDir, agentUrl: url, token });
  });
  afterEach(() => client.kill());

  const begin = () =>
    client.call('delegate_task_to_assistant', { task: 'refactor', workspace: at.server.workspace });
  const approve = (sessionId: string, result: ToolResult) => {
    const { callId, shown, title } = firstOf(result);
    return client.call(DECIDE, { decision: 'approve', sessionId, callId, shown, title });
  };

  test('results show each preview once and then only new content, so their total size is at most half of complete results', async () => {
    const first = await begin();
    const sessionId = sessionOf(first);
    const second = await approve(sessionId, first);
    // The first result contains the preview and the code of this action.
    const [, edit] = pendingOf(first);
    const third = await client.call(DECIDE, { ...ids.parse(edit), decision: 'approve', sessionId });
    const fourth = await approve(sessionId, third);
    const { callId, shown } = question.parse(fourth.structuredContent?.['question']);
    const last = await client.call(DECIDE, {
      decision: 'answer',
      sessionId,
      callId,
      shown,
      answer: 'They shall go.',
    });
    const results = [first, second, third, fourth, last];
    expect(last.structuredContent).toMatchObject({ state: 'completed' });
    const bytes = results.map(
      (each) => Buffer.byteLength(textOf(each)) + Buffer.byteLength(JSON.stringify(each.structuredContent)),
    );
    // The limit is half of 42,700 bytes. That was the size when each result repeated the text, and had inputs
    // besides previews.
    expect(bytes.reduce((sum, each) => sum + each)).toBeLessThan(21_000);

    // The text contains the preview once. The input contains only the fields that the preview does not show.
    expect(textOf(first).split('+- note 7:')).toHaveLength(2);
    expect(pendingOf(first)).toMatchObject([{ title: 'Write notes.md' }, { input: { replaceAll: false } }]);
    expect(pendingOf(first)[0]).not.toHaveProperty('input');
    expect(JSON.stringify(results.map((each) => each.structuredContent))).not.toContain(':null');
    // The second result says that it is a delta. An earlier result showed the preview of the action that still waits.
    expect(textOf(second)).toContain('Only what is new since the last result');
    expect(second.structuredContent).toMatchObject({
      delta: expect.stringContaining('"whole"'),
      output: '',
      pending: [{ title: 'Edit values.ts', shownBefore: true }],
      calls: [{ title: 'Write notes.md', state: 'ready' }],
    });
    expect(textOf(second)).not.toContain('value7');
    // D2: a result gives the code only together with the preview.
    expect(JSON.stringify(second)).not.toContain(edit?.shown);
    expect(second.structuredContent?.['delta']).toContain('with their previews and codes');
    expect(third.structuredContent?.['output']).toMatch(/^Now I count the lines\./);
    expect(last.structuredContent?.['output']).toMatch(/^Everything is done\./);

    // Without a wait and without news, the call returns the whole result.
    const again = await client.call('wait_for_task', { sessionId });
    expect(again.structuredContent?.['output']).toMatch(/^I begin with the notes.*Everything is done\./s);
    expect(again.structuredContent).not.toHaveProperty('delta');
  });

  test('R95 a wait without new content shows the preview again, and the whole inputs if the call requests them', async () => {
    const first = await begin();
    const sessionId = sessionOf(first);
    const second = await approve(sessionId, first);
    expect(pendingOf(second)[0]).not.toHaveProperty('preview');
    const again = await client.call('wait_for_task', { sessionId });
    expect(pendingOf(again)).toMatchObject([{ preview: expect.stringContaining('+export let value7') }]);
    const whole = await client.call('wait_for_task', { sessionId, whole: true });
    expect(pendingOf(whole)).toMatchObject([{ input: { path: 'values.ts', newText: NEW.join('\n') } }]);
  });

  test('another client gets complete results, also after a restart of the bridge', async () => {
    const first = await begin();
    const sessionId = sessionOf(first);
    await approve(sessionId, first);
    await client.kill();
    client = await RawClient.start(program, { stateDir, agentUrl: at.server.url, token: at.server.token });
    const next = await client.call('wait_for_task', { sessionId });
    expect(next.structuredContent).not.toHaveProperty('delta');
    expect(next.structuredContent?.['output']).toMatch(/^I begin/);
    expect(pendingOf(next)).toMatchObject([{ preview: expect.stringContaining('value7') }]);
  });

  test('a program that requests complete results gets them each time', async () => {
    const meta = { 'mcp-a2a-bridge/wholeResult': true };
    const first = await begin();
    const sessionId = sessionOf(first);
    const { callId, shown, title } = firstOf(first);
    const second = await client.call(DECIDE, { decision: 'approve', sessionId, callId, shown, title }, meta);
    expect(second.structuredContent).not.toHaveProperty('delta');
    expect(pendingOf(second)).toMatchObject([{ input: { path: 'values.ts' } }]);
  });
});
