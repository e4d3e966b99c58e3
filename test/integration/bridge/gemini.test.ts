/** The bridge in front of an agent in gemini-cli's dialect, with that agent's hazards. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { FakeGemini } from '../../support/fake-gemini.ts';
import type { PlannedCall, Step } from '../../support/fake-gemini-task.ts';
import {
  CANCEL,
  CHECK,
  DECIDE,
  DELEGATE,
  LIST,
  WAIT,
  program,
  stateDirectory,
} from './support/bridge-stage.ts';
import { RawClient, textOf, type ToolResult } from './support/raw-client.ts';

const written: (string | undefined)[] = [];

const EDIT = {
  type: 'edit',
  title: 'Confirm Write',
  fileName: 'test.md',
  filePath: '/w/test.md',
  fileDiff: '--- test.md\n+++ test.md\n+hello',
  originalContent: '',
  newContent: 'hello',
};

const write = (callId = 'w-1'): PlannedCall => ({
  callId,
  name: 'write_file',
  args: { file_path: '/w/test.md', content: 'hello' },
  details: EDIT,
  run: (content) => {
    written.push(content);
    return 'written';
  },
});

const idOf = (result: ToolResult): unknown => result.structuredContent?.['sessionId'];

/** The same, run without asking. */
function unasked(call: PlannedCall): PlannedCall {
  const { callId, name, args, run } = call;
  return { callId, name, args, ...(run === undefined ? {} : { run }) };
}

describe('an agent in the dialect of gemini-cli', () => {
  let agent: FakeGemini;
  let client: RawClient;
  let stateDir: string;
  let steps: Step[];
  /** Lets a running tool end. */
  let finish: () => void;
  /** Resolves when the tool runs. */
  let running: Promise<void>;

  beforeEach(async () => {
    written.length = 0;
    steps = [{ say: 'I write the file. ' }, { calls: [write()] }, { say: 'It is written.' }];
    agent = await FakeGemini.start((text) => (text === 'go on' ? [{ say: 'Gone on.' }] : steps));
    stateDir = await stateDirectory();
    client = await start();
  });
  afterEach(async () => {
    await client.kill();
    await agent.stop();
  });

  const start = (): Promise<RawClient> =>
    RawClient.start(program, { stateDir, agentUrl: agent.url, workspaces: ['/w', tmpdir()] });
  const delegate = (args: object = {}): Promise<ToolResult> =>
    client.call(DELEGATE, { task: 'write test.md', workspace: '/w', ...args });
  /** Decides on what this result showed. */
  const decide = (asked: ToolResult, args: { callId?: string; decision: string; [more: string]: unknown }) =>
    client.call(DECIDE, {
      sessionId: idOf(asked),
      ...shownIn(asked, args.callId ?? 'w-1'),
      ...args,
    });

  /** A command that runs until the test lets it end. */
  function slow(): PlannedCall {
    const events = new EventEmitter();
    const end = once(events, 'end');
    const begun = once(events, 'begun');
    finish = () => void events.emit('end');
    running = begun.then(() => undefined);
    return {
      callId: 'w-1',
      name: 'run_shell_command',
      args: { command: 'make all', dir_path: 'sub' },
      details: { type: 'exec', command: 'make all', rootCommand: 'make' },
      run: (_, output) => {
        output('compiling');
        events.emit('begun');
        return end.then(() => 'all done');
      },
    };
  }

  test('R69 asks with the diff, runs once when approved, and its turn is the result', async () => {
    const asked = await delegate();
    expect(asked.structuredContent).toMatchObject({
      state: 'input_required',
      output: 'I write the file.',
      pending: [
        {
          callId: 'w-1',
          tool: 'write_file',
          title: 'write_file test.md',
          sideEffect: 'files',
          preview: '│ --- test.md\n│ +++ test.md\n│ +hello',
          decisions: ['approve', 'deny', 'trust_always'],
        },
      ],
    });
    expect(agent.task.settings).toEqual({ kind: 'agent-settings', workspacePath: '/w' });
    expect(written).toEqual([]);
    const done = await decide(asked, { decision: 'approve' });
    expect(done.structuredContent).toMatchObject({
      sessionId: idOf(asked),
      state: 'completed',
      output: 'It is written.',
      calls: [{ callId: 'w-1', state: 'ok', summary: 'written' }],
    });
    expect(written).toEqual(['hello']);
    expect(agent.task.outcomes).toEqual([{ callId: 'w-1', outcome: 'proceed_once' }]);
  });

  test('E2 R69 two bridges that decide one call at the same moment: one decision leaves, and the tool runs once', async () => {
    steps = [{ calls: [slow()] }, { say: 'Made.' }];
    const asked = await delegate();
    const other = await start();
    try {
      const seen = await other.call(WAIT, { sessionId: idOf(asked), waitSeconds: 0 });
      expect(seen.structuredContent).toMatchObject({ pending: [{ callId: 'w-1' }] });
      const approval = {
        sessionId: idOf(asked),
        ...shownIn(asked, 'w-1'),
        decision: 'approve',
        waitSeconds: 0,
      };
      const answers = await Promise.all([client, other].map((each) => each.call(DECIDE, approval)));
      await running;
      finish();
      const refused = answers.filter(({ isError }) => isError === true);
      // The other finds the claim; or, when it was a moment later, that the call does not wait any more.
      expect(refused.map((each) => textOf(each))).toEqual([
        expect.stringMatching(
          /^A decision on w-1 has been sent before|^No action waits for a decision\. "w-1" was decided/,
        ),
      ]);
      const done = await client.call(WAIT, { sessionId: idOf(asked) });
      expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'Made.' });
      expect(agent.task.outcomes).toEqual([{ callId: 'w-1', outcome: 'proceed_once' }]);
    } finally {
      await other.kill();
    }
  });

  test('E2 R98 two bridges that have shown one call differently: one decision leaves', async () => {
    const workspace = await mkdtemp(join(program.directory, 'workspace-'));
    const filePath = join(workspace, 'test.md');
    const details = { ...EDIT, filePath, originalContent: 'one\n', newContent: 'two\n' };
    steps = [{ calls: [{ ...slow(), name: 'write_file', details }] }, { say: 'Written.' }];
    await writeFile(filePath, 'one\n');
    const asked = await delegate({ workspace });
    const approval = { decision: 'approve', waitSeconds: 0 };
    const other = await start();
    try {
      const elsewhere = await other.call(WAIT, { sessionId: idOf(asked), waitSeconds: 0 });
      let here = asked;
      // Two changes, of which the second takes the first back: this bridge has shown the same content as another question.
      for (const content of ['mine\n', 'one\n']) {
        await writeFile(filePath, content);
        const refused = await decide(here, approval);
        expect(textOf(refused)).toContain('has changed since the change to it was shown');
        here = await client.call(WAIT, { sessionId: idOf(asked), waitSeconds: 0 });
      }
      expect(agent.task.outcomes).toEqual([]);
      const answers = await Promise.all(
        [
          { bridge: client, saw: here },
          { bridge: other, saw: elsewhere },
        ].map(({ bridge, saw }) =>
          bridge.call(DECIDE, {
            sessionId: idOf(asked),
            ...shownIn(saw, 'w-1'),
            ...approval,
          }),
        ),
      );
      await running;
      finish();
      expect(answers.filter(({ isError }) => isError === true)).toHaveLength(1);
      await client.call(WAIT, { sessionId: idOf(asked) });
      expect(agent.task.outcomes).toEqual([{ callId: 'w-1', outcome: 'proceed_once' }]);
    } finally {
      await other.kill();
    }
  });

  test('R69 a turn that has ended goes on in the same task, which has the conversation', async () => {
    const asked = await delegate();
    await decide(asked, { decision: 'approve' });
    const next = await delegate({ task: 'go on', sessionId: idOf(asked) });
    expect(next.structuredContent).toMatchObject({ state: 'completed', output: 'Gone on.' });
    expect(next.structuredContent).not.toHaveProperty('calls');
    expect(agent.task.heard).toEqual(['write test.md', 'go on']);
  });

  test('R68 R69 each turn of a task is a result of its own: the second is announced as well', async () => {
    steps = [{ calls: [unasked(slow())] }, { say: 'Made.' }];
    const started = await delegate({ waitSeconds: 0 });
    await running;
    finish();
    const first = await client.call(WAIT, { sessionId: idOf(started) });
    expect(first.structuredContent).toMatchObject({ state: 'completed', output: 'Made.' });
    steps = [{ calls: [unasked(slow())] }, { say: 'Made again.' }];
    await delegate({ sessionId: idOf(started), waitSeconds: 0 });
    await running;
    finish();
    await agent.closed(2);
    const listed = await client.call(LIST, {});
    expect(textOf(listed)).toContain('Finished while nobody looked');
    const second = await client.call(WAIT, { sessionId: idOf(started) });
    expect(second.structuredContent).toMatchObject({ state: 'completed', output: 'Made again.' });
  });

  test('R69 a denial runs nothing, and the reason it has no ear for is said to be lost', async () => {
    const asked = await delegate();
    const denied = await decide(asked, { decision: 'deny', reason: 'wrong file' });
    expect(denied.structuredContent).toMatchObject({ state: 'completed', calls: [{ state: 'stopped' }] });
    expect(textOf(denied)).toContain('yours was not sent');
    const looked = await client.call(WAIT, { sessionId: idOf(asked) });
    expect(textOf(looked)).not.toContain('yours was not sent');
    expect(written).toEqual([]);
    expect(agent.task.outcomes).toEqual([{ callId: 'w-1', outcome: 'cancel' }]);
  });

  test('R69 trust goes as far as the person said and never further', async () => {
    const asked = await delegate();
    const refused = await decide(asked, { decision: 'trust_tool' });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain('"trust_always"');
    expect(agent.task.outcomes).toEqual([]);
    await decide(asked, { decision: 'trust_always' });
    expect(agent.task.outcomes).toEqual([{ callId: 'w-1', outcome: 'proceed_always' }]);
  });

  test('R69 no socket is ended, so that nothing is aborted while a person thinks', async () => {
    const asked = await delegate();
    await agent.closed(1);
    expect(agent.sockets).toEqual({ ended: 0, closed: 1 });
    const done = await decide(asked, { decision: 'approve' });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    await agent.closed(2);
    expect(agent.sockets).toEqual({ ended: 0, closed: 2 });
  });

  test('R64 R69 streams that break while a tool runs are taken up by looking: nothing is sent again', async () => {
    steps = [{ calls: [slow()] }, { say: 'Made.' }];
    const asked = await delegate();
    expect(textOf(asked)).toContain('$ make all\n(in sub)');
    const deciding = client.call(
      DECIDE,
      { sessionId: idOf(asked), ...shownIn(asked, 'w-1'), decision: 'approve' },
      { progressToken: 'p' },
    );
    await running;
    await client.progressed(/run_shell_command runs/);
    agent.cutStreams();
    finish();
    const done = await deciding;
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(agent.task.runs).toEqual(['w-1']);
    expect(agent.requests.filter((each) => each === 'message/stream')).toHaveLength(2);
  });

  test('R69 D1 of two approvals one leaves', async () => {
    steps = [{ calls: [slow()] }, { say: 'Made.' }];
    const asked = await delegate();
    const both = [1, 2].map(() => decide(asked, { decision: 'approve' }));
    await running;
    const late = await decide(asked, { decision: 'approve' });
    expect(late.isError).toBe(true);
    finish();
    const answers = await Promise.all(both);
    expect(answers.filter((each) => each.isError === true)).toHaveLength(1);
    expect(agent.task.runs).toEqual(['w-1']);
  });

  test('R69 a decision whose answer is lost is looked for, not sent again', async () => {
    const asked = await delegate();
    agent.dropAnswers = 1;
    const done = await decide(asked, { decision: 'approve' });
    expect(done.structuredContent).toMatchObject({ calls: [{ callId: 'w-1' }] });
    expect(agent.task.runs).toEqual(['w-1']);
    expect(agent.requests.filter((each) => each === 'message/stream')).toHaveLength(2);
  });

  test('R69 a delegation whose answer is lost is found by its name, also when its turn has been forgotten', async () => {
    agent.ways.forgets = true;
    steps = [{ say: 'Done.' }];
    agent.dropAnswers = 1;
    const found = await delegate();
    expect(found.structuredContent).toMatchObject({
      state: 'input_required',
      sessionId: agent.task.contextId,
    });
    expect(textOf(found)).toContain('does not report how');
    expect(agent.task.heard).toEqual(['write test.md']);
  });

  test('R69 a delegation whose answer is lost is not made again', async () => {
    agent.dropAnswers = 1;
    const asked = await delegate();
    expect(asked.structuredContent).toMatchObject({
      state: 'input_required',
      pending: [{ callId: 'w-1' }],
    });
    expect(agent.tasks.size).toBe(1);
    expect(agent.requests).toContain('/tasks/metadata');
  });

  test('B3 R69 a bridge that is killed while the task is parked loses nothing', async () => {
    const asked = await delegate();
    await client.kill();
    client = await start();
    const listed = await client.call(LIST, {});
    expect(listed.structuredContent).toMatchObject({
      sessions: [{ sessionId: idOf(asked), state: 'input_required', title: 'write test.md', pending: 1 }],
    });
    const again = await client.call(WAIT, { sessionId: idOf(asked) });
    expect(again.structuredContent).toMatchObject({
      state: 'input_required',
      output: 'I write the file.',
      pending: [{ callId: 'w-1' }],
    });
    const done = await decide(asked, { decision: 'approve' });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(agent.task.runs).toEqual(['w-1']);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['by its client, who closes stdin', () => client.close()],
    ['by SIGINT', () => client.kill('SIGINT')],
    ['by SIGTERM', () => client.kill('SIGTERM')],
  ])(
    'R69 a bridge that is told to go, %s, resets its sockets: the task goes on without it',
    async (_, end) => {
      steps = [{ calls: [unasked(slow())] }, { say: 'Made.' }];
      const started = await delegate({ waitSeconds: 0 });
      await running;
      await end();
      await agent.closed(1);
      expect(agent.sockets.ended).toBe(0);
      finish();
      client = await start();
      const done = await client.call(WAIT, { sessionId: idOf(started) });
      expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'Made.' });
    },
  );

  test.each([
    [true, 'does not report how its last turn ended'],
    [false, 'Execution aborted by client.'],
  ])('R69 a turn that was cut off is not taken for a result (forgotten: %s)', async (forgets, said) => {
    agent.ways.forgets = forgets;
    steps = [{ calls: [unasked(slow())] }, { say: 'Made.' }];
    const started = await delegate({ waitSeconds: 0 });
    await running;
    await client.kill();
    await agent.closed(1);
    client = await start();
    const seen = await client.call(WAIT, { sessionId: idOf(started) });
    expect(seen.structuredContent).toMatchObject({ state: 'input_required' });
    expect(textOf(seen)).toContain(said);
  });

  test('R69 an agent that was restarted has forgotten its tasks, and that is what is said', async () => {
    const asked = await delegate();
    const port = Number(new URL(agent.url).port);
    await agent.stop();
    agent = await FakeGemini.start(() => steps, port);
    const gone = await decide(asked, { decision: 'approve' });
    expect(gone.isError).toBe(true);
    expect(textOf(gone)).toContain('does not know this task (Task not found)');
    const looked = await client.call(WAIT, { sessionId: idOf(asked) });
    expect(textOf(looked)).toContain('Delegate the remaining work again');
    expect(agent.requests).not.toContain('message/stream');
  });

  test('R69 an error of its model is said, and a reply goes on', async () => {
    steps = [{ fail: 'Agent Error, unknown agent message: quota exceeded' }];
    const failed = await delegate();
    expect(failed.structuredContent).toMatchObject({ state: 'input_required' });
    expect(textOf(failed)).toContain('quota exceeded');
    const { callId } = questionIn(failed);
    const done = await decide(failed, { callId, decision: 'answer', answer: 'go on' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'Gone on.' });
  });

  test('R69 cancel ends its task, and says what may go on', async () => {
    steps = [{ calls: [unasked(slow())] }];
    const started = await delegate({ waitSeconds: 0 });
    await running;
    const looked = await client.call(CHECK, { sessionId: idOf(started) });
    expect(textOf(looked)).toContain('run_shell_command');
    const cancelled = await client.call(CANCEL, { sessionId: idOf(started) });
    expect(cancelled.structuredContent).toMatchObject({ state: 'cancelled' });
    expect(textOf(cancelled)).toContain('may still run after the cancel');
  });
});

/** What a result shows of a pending action, or of the question: its id and its code. */
function shownIn(
  { structuredContent, ...rest }: ToolResult,
  callId: string,
): { callId: string; shown: string } {
  if (structuredContent === undefined) throw new Error(JSON.stringify(rest));
  const { pending, question } = z
    .looseObject({
      pending: z.array(z.looseObject({ callId: z.string(), shown: z.string() })),
      question: z.looseObject({ callId: z.string(), shown: z.string() }).optional(),
    })
    .parse(structuredContent);
  const found = [...pending, ...(question === undefined ? [] : [question])].find(
    (each) => each.callId === callId,
  );
  return { callId, shown: found?.shown ?? 'not shown' };
}

function questionIn(result: ToolResult): { callId: string } {
  const question = result.structuredContent?.['question'];
  if (typeof question !== 'object' || question === null || !('callId' in question))
    throw new Error('nothing is asked');
  return { callId: String(question.callId) };
}
