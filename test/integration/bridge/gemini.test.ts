/** Tests the bridge with an agent in gemini-cli's dialect, and with that agent's known failures. */
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
import { RawClient, textOf, type ToolResult, refusalOf, sessionOf } from './support/raw-client.ts';

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

const idOf = (result: ToolResult): unknown => sessionOf(result);

/** Omits the approval details of a call, so that the agent runs it without a question. */
function unasked(call: PlannedCall): PlannedCall {
  const { callId, name, args, run } = call;
  return { callId, name, args, ...(run === undefined ? {} : { run }) };
}

describe('an agent in the dialect of gemini-cli', () => {
  let agent: FakeGemini;
  let client: RawClient;
  let stateDir: string;
  let steps: Step[];
  /** Ends the running tool. */
  let finish: () => void;
  /** Resolves when the tool starts. */
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
  /** Decides on the action that the result `asked` showed. */
  const decide = (asked: ToolResult, args: { callId?: string; decision: string; [more: string]: unknown }) =>
    client.call(DECIDE, {
      sessionId: idOf(asked),
      ...shownIn(asked, args.callId ?? 'w-1'),
      ...args,
    });

  /** Returns a command that runs until the test calls `finish`. */
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

  test('R69 the result shows the diff, the approved call runs once, and the next result contains the rest of the turn', async () => {
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

  test('E2 R69 if two bridges decide one call at the same moment, one decision is sent, and the tool runs once', async () => {
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
      // At first, the second bridge finds the first bridge's claim. A moment later, it finds that no call waits.
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

  test('E2 R98 if two bridges show one call with different content, one decision is sent', async () => {
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
      // The file changes, and then changes back. So this bridge has shown the same content with two questions.
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

  test('R69 after a turn has ended, the next message continues the same task with its conversation', async () => {
    const asked = await delegate();
    await decide(asked, { decision: 'approve' });
    const next = await delegate({ task: 'go on', sessionId: idOf(asked) });
    expect(next.structuredContent).toMatchObject({ state: 'completed', output: 'Gone on.' });
    expect(next.structuredContent).not.toHaveProperty('calls');
    expect(agent.task.received).toEqual(['write test.md', 'go on']);
  });

  test('R68 R69 each turn of a task has its own result, and the bridge announces the second result too', async () => {
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
    expect(textOf(listed)).toContain('Results that nobody has read yet');
    const second = await client.call(WAIT, { sessionId: idOf(started) });
    expect(second.structuredContent).toMatchObject({ state: 'completed', output: 'Made again.' });
  });

  test('R69 a denied call does not run, and the result says that the agent did not receive the reason', async () => {
    const asked = await delegate();
    const denied = await decide(asked, { decision: 'deny', reason: 'wrong file' });
    expect(denied.structuredContent).toMatchObject({ state: 'completed', calls: [{ state: 'stopped' }] });
    expect(textOf(denied)).toContain('yours was not sent');
    const looked = await client.call(WAIT, { sessionId: idOf(asked) });
    expect(textOf(looked)).not.toContain('yours was not sent');
    expect(written).toEqual([]);
    expect(agent.task.outcomes).toEqual([{ callId: 'w-1', outcome: 'cancel' }]);
  });

  test('R69 if the agent does not offer a kind of trust, the bridge refuses it, and sends no wider trust instead', async () => {
    const asked = await delegate();
    const refused = await decide(asked, { decision: 'trust_tool' });
    expect(refusalOf(refused)).toContain('"trust_always"');
    expect(agent.task.outcomes).toEqual([]);
    await decide(asked, { decision: 'trust_always' });
    expect(agent.task.outcomes).toEqual([{ callId: 'w-1', outcome: 'proceed_always' }]);
  });

  test('R69 the bridge closes its socket with a reset, so the agent does not abort the task while the person decides', async () => {
    const asked = await delegate();
    await agent.closed(1);
    expect(agent.sockets).toEqual({ ended: 0, closed: 1 });
    const done = await decide(asked, { decision: 'approve' });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    await agent.closed(2);
    expect(agent.sockets).toEqual({ ended: 0, closed: 2 });
  });

  test('R64 R69 if a stream breaks while a tool runs, the bridge polls the task and sends no message again', async () => {
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

  test('R69 D1 if two equal approvals arrive, the bridge sends one', async () => {
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

  test('R69 if the answer to a decision is lost, the bridge polls the task and does not send the decision again', async () => {
    const asked = await delegate();
    agent.dropAnswers = 1;
    const done = await decide(asked, { decision: 'approve' });
    expect(done.structuredContent).toMatchObject({ calls: [{ callId: 'w-1' }] });
    expect(agent.task.runs).toEqual(['w-1']);
    expect(agent.requests.filter((each) => each === 'message/stream')).toHaveLength(2);
  });

  test('R69 if the answer to a delegation is lost, the bridge finds the task by its message id; if the agent does not report how the turn ended, the result says so', async () => {
    agent.ways.forgets = true;
    steps = [{ say: 'Done.' }];
    agent.dropAnswers = 1;
    const found = await delegate();
    expect(found.structuredContent).toMatchObject({
      state: 'input_required',
      sessionId: agent.task.contextId,
    });
    expect(textOf(found)).toContain('does not report how');
    expect(agent.task.received).toEqual(['write test.md']);
  });

  test('R69 when the answer to a delegation is lost, the bridge does not delegate again', async () => {
    agent.dropAnswers = 1;
    const asked = await delegate();
    expect(asked.structuredContent).toMatchObject({
      state: 'input_required',
      pending: [{ callId: 'w-1' }],
    });
    expect(agent.tasks.size).toBe(1);
    expect(agent.requests).toContain('/tasks/metadata');
  });

  test('B3 R69 after a kill of the bridge, the next bridge lists the waiting task, shows its action and decides it', async () => {
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
    ['by the end of stdin', () => client.close()],
    ['by SIGINT', () => client.kill('SIGINT')],
    ['by SIGTERM', () => client.kill('SIGTERM')],
  ])('R69 a bridge that ends %s resets its sockets, and the task continues', async (_, end) => {
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
  });

  test.each([
    [true, 'does not report how its last turn ended'],
    [false, 'Execution aborted by client.'],
  ])(
    'R69 a turn that ends too early is not reported as "completed" (the agent forgets the turn: %s)',
    async (forgets, said) => {
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
    },
  );

  test('R69 after a restart the agent has no tasks, and the result says that the task is lost', async () => {
    const asked = await delegate();
    const port = Number(new URL(agent.url).port);
    await agent.stop();
    agent = await FakeGemini.start(() => steps, port);
    const gone = await decide(asked, { decision: 'approve' });
    expect(refusalOf(gone)).toContain('does not know this task (Task not found)');
    const looked = await client.call(WAIT, { sessionId: idOf(asked) });
    expect(textOf(looked)).toContain('Delegate the remaining work again');
    expect(agent.requests).not.toContain('message/stream');
  });

  test('R69 a result contains the error of the agent’s model, and a new message continues the task', async () => {
    steps = [{ fail: 'Agent Error, unknown agent message: quota exceeded' }];
    const failed = await delegate();
    expect(failed.structuredContent).toMatchObject({ state: 'input_required' });
    expect(textOf(failed)).toContain('quota exceeded');
    const { callId } = questionIn(failed);
    const done = await decide(failed, { callId, decision: 'answer', answer: 'go on' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'Gone on.' });
  });

  test('R69 a cancel ends the task, and the result warns that a command may still run', async () => {
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

/** Returns the id and the code that a result shows for a pending action or a question. */
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
