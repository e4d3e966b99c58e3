/**
 * Tests the bridge with gemini-cli's a2a-server. The same cases run with a simulation and, if `GEMINI_A2A_SERVER`
 * names its package directory, with the real program (docs/agents.md).
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelCall } from '../../support/fake-gemini-tools.ts';
import { GEMINI_SERVER } from '../../support/gemini-server.ts';
import { CANCEL, DECIDE, DELEGATE, WAIT, program, stateDirectory } from './support/bridge-stage.ts';
import { type GeminiPeer, startReal, startStandIn } from './support/gemini-peer.ts';
import { pendingIn } from './support/pending-in.ts';
import { RawClient, textOf, type ToolResult, refusalOf, sessionOf } from './support/raw-client.ts';

/** The start of the real agent needs many seconds on a small machine. */
const LONG_MS = 180_000;

if (GEMINI_SERVER === undefined)
  process.stderr.write(
    "gemini-cli's own a2a-server is not tested: GEMINI_A2A_SERVER does not name its package directory.\n",
  );

describe('a simulation of gemini-cli’s agent', () => cases(startStandIn));
(GEMINI_SERVER === undefined ? describe.skip : describe)("gemini-cli's a2a-server", () => cases(startReal));

function cases(startPeer: () => Promise<GeminiPeer>): void {
  let peer: GeminiPeer;
  let client: RawClient;
  let stateDir: string;

  beforeAll(async () => {
    peer = await startPeer();
  }, LONG_MS);
  afterAll(() => peer.stop());
  beforeEach(async () => {
    stateDir = await stateDirectory();
    client = await start();
  });
  afterEach(async () => {
    await client.kill();
    for (const name of ['a.md', 'b.md', 'ran.txt']) await rm(at(name), { force: true });
  });

  const start = (): Promise<RawClient> => RawClient.start(program, { stateDir, agentUrl: peer.url });
  const at = (name: string): string => join(peer.workspace, name);
  const text = (name: string): Promise<string> => readFile(at(name), 'utf8');
  const write = (name: string, content: string): ModelCall => ({
    name: 'write_file',
    args: { file_path: at(name), content },
  });
  const delegate = (args: object = {}): Promise<ToolResult> =>
    client.call(DELEGATE, { task: 'do it', workspace: peer.workspace, ...args });
  const decide = (asked: ToolResult, decision: object, by = client): Promise<ToolResult> => {
    const { callId, shown } = pendingIn(asked);
    const sessionId = sessionOf(asked);
    return by.call(DECIDE, { sessionId, callId, shown, ...decision });
  };
  const look = (asked: ToolResult, by = client): Promise<ToolResult> =>
    by.call(WAIT, { sessionId: sessionOf(asked) });

  test('R69 a result shows the diff, an approval writes the file once, and the next message continues the same task', async () => {
    peer.script({ say: 'I write.', calls: [write('a.md', 'hello\n')] }, { say: 'Written.' });
    const asked = await delegate();
    expect(asked.structuredContent).toMatchObject({
      state: 'input_required',
      pending: [
        {
          tool: 'write_file',
          title: 'write_file a.md',
          sideEffect: 'files',
          preview: expect.stringContaining('+hello'),
          decisions: ['approve', 'deny', 'trust_always'],
        },
      ],
    });
    expect(existsSync(at('a.md'))).toBe(false);
    const done = await decide(asked, { decision: 'approve' });
    expect(done.structuredContent).toMatchObject({
      state: 'completed',
      output: 'Written.',
      calls: [{ state: 'ok' }],
    });
    expect(await text('a.md')).toBe('hello\n');
    peer.script({ say: 'Gone on.' });
    const next = await delegate({ sessionId: sessionOf(asked) });
    expect(next.structuredContent).toMatchObject({
      state: 'completed',
      output: 'Gone on.',
      // The result omits text, because an earlier result of the same task contained it.
      delta: expect.any(String),
    });
  });

  test('R69 the agent asks about the calls of one turn one after another, and the result says so', async () => {
    peer.script({ calls: [write('a.md', 'a\n'), write('b.md', 'b\n')] }, { say: 'One of two.' });
    const first = await delegate();
    expect(pendingIn(first).title).toBe('write_file a.md');
    expect(textOf(first)).toContain('An approved call runs at once');
    expect(textOf(first)).not.toContain('Nothing runs until');
    const second = await decide(first, { decision: 'approve' });
    expect(pendingIn(second).title).toBe('write_file b.md');
    expect(await text('a.md')).toBe('a\n');
    const done = await decide(second, { decision: 'deny' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'One of two.' });
    expect(existsSync(at('b.md'))).toBe(false);
  });

  test('R69 a denial of one call ends the turn, and the later calls of the turn do not run', async () => {
    peer.script({ calls: [write('a.md', 'a\n'), write('b.md', 'b\n')] });
    const done = await decide(await delegate(), { decision: 'deny' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', pending: [] });
    expect([existsSync(at('a.md')), existsSync(at('b.md'))]).toEqual([false, false]);
  });

  test('R98 when a file changes after the diff was shown, the approval is refused, and the next result shows the new diff', async () => {
    await writeFile(at('a.md'), 'one\n');
    peer.script({ calls: [write('a.md', 'two\n')] }, { say: 'Written.' });
    const asked = await delegate();
    expect(pendingIn(asked).preview).toContain('│ -one\n│ +two');
    await writeFile(at('a.md'), 'mine\n');
    const refused = await decide(asked, { decision: 'approve' });
    expect(refusalOf(refused)).toContain('has changed since the change to it was shown; nothing was sent');
    const again = await look(asked);
    expect(pendingIn(again)).toMatchObject({
      callId: pendingIn(asked).callId,
      reason: 'content-changed',
      preview: expect.stringContaining('│ -mine\n│ +two'),
    });
    expect(await text('a.md')).toBe('mine\n');
    const done = await decide(again, { decision: 'approve' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'Written.' });
    // The real agent may drop the last line end of a file that it replaces.
    expect(await text('a.md')).toMatch(/^two\n?$/);
  });

  test('R98 if a file changes after the diff of a partial replacement was shown, the approved call keeps the file’s other changes', async () => {
    await writeFile(at('a.md'), 'a\nb\nc\n');
    const args = { file_path: at('a.md'), old_string: 'b', new_string: 'B', instruction: 'capitals' };
    peer.script({ calls: [{ name: 'replace', args }] }, { say: 'Written.' });
    const asked = await delegate();
    await appendFile(at('a.md'), 'mine\n');
    expect((await decide(asked, { decision: 'approve' })).isError).toBe(true);
    const again = await look(asked);
    expect(pendingIn(again).preview).toContain('│  a\n│ -b\n│ +B\n│  c\n│  mine');
    await decide(again, { decision: 'approve' });
    expect(await text('a.md')).toBe('a\nB\nc\nmine\n');
  });

  test('R98 a bridge that shows the action later compares the file with the content from the first diff too', async () => {
    await writeFile(at('a.md'), 'one\n');
    peer.script({ calls: [write('a.md', 'two\n')] });
    const asked = await delegate();
    await client.kill();
    await writeFile(at('a.md'), 'mine\n');
    client = await start();
    const seen = await look(asked);
    expect((await decide(seen, { decision: 'approve' })).isError).toBe(true);
    const again = await look(asked);
    expect(pendingIn(again).preview).toContain('│ -mine\n│ +two');
    const denied = await decide(again, { decision: 'deny' });
    expect(denied.structuredContent).toMatchObject({ state: 'completed' });
    expect(await text('a.md')).toBe('mine\n');
  });

  test('R69 the bridge sends an edit as a denial and a message, and the result says so', async () => {
    peer.script(
      { calls: [write('a.md', 'hello\n')] },
      { calls: [write('a.md', 'HELLO\n')] },
      { say: 'Written.' },
    );
    const asked = await delegate();
    const edited = await decide(asked, { decision: 'edit', editedContent: 'HELLO\n' });
    expect(textOf(edited)).toContain('This agent cannot run an edited call');
    expect(pendingIn(edited)).toMatchObject({
      reason: 'approval',
      preview: expect.stringContaining('+HELLO'),
    });
    expect(pendingIn(edited).callId).not.toBe(pendingIn(asked).callId);
    expect(existsSync(at('a.md'))).toBe(false);
    expect(peer.given()).toContain(
      `Instead of "write_file a.md", make this the whole content of ${at('a.md')}:\n\nHELLO\n`,
    );
    const done = await decide(edited, { decision: 'approve' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'Written.' });
    expect(await text('a.md')).toBe('HELLO\n');
  });

  test('E2 R69 two bridges approve one command at the same moment: the command runs once', async () => {
    const command = `echo ran >> ${at('ran.txt')}`;
    peer.script({ calls: [{ name: 'run_shell_command', args: { command } }] }, { say: 'Ran.' });
    const asked = await delegate();
    const other = await start();
    try {
      await look(asked, other);
      const approval = { decision: 'approve' };
      const answers = await Promise.all([client, other].map((each) => decide(asked, approval, each)));
      expect(answers.filter(({ isError }) => isError === true)).toHaveLength(1);
      expect((await look(asked)).structuredContent).toMatchObject({ state: 'completed', output: 'Ran.' });
      expect(await text('ran.txt')).toBe('ran\n');
    } finally {
      await other.kill();
    }
  });

  test('R69 a cancel ends a task that waits for a decision, and the file is not written', async () => {
    peer.script({ calls: [write('a.md', 'hello\n')] });
    const asked = await delegate();
    const { sessionId } = asked.structuredContent ?? {};
    const cancelled = await client.call(CANCEL, { sessionId });
    expect(cancelled.structuredContent).toMatchObject({ state: 'cancelled' });
    expect(existsSync(at('a.md'))).toBe(false);
  });
}
