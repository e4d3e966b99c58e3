import { describe, expect, test } from '@jest/globals';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import type { FakeAgent, FakeAgentOptions, FakeAgentReactions } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { append, plan } from '../../support/offline-plan.ts';
import { signal } from '../../support/signal.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import {
  CHECK,
  DECIDE,
  DELEGATE,
  FAST_ANSWERS,
  WAIT,
  type AgentAddress,
  bridgeStart,
  closing,
  program,
  shared,
  startAgent,
  startClient,
  stateDirectory,
} from './support/bridge-stage.ts';
import { decisionChannels } from './support/decision-channels.ts';
import type { BridgeStart } from './support/bridge-program.ts';
import {
  FORM_CLIENTS,
  type FormClient,
  type FormResult,
  type Person,
  textOf,
} from './support/form-client.ts';

const approving: Person = () => ({ action: 'accept', content: {} });

function asks(...callIds: string[]): FakeAgentReactions {
  return {
    onMessage: (task) => task.work().ask(...callIds.map((callId) => pendingWrite(callId))),
    onDecisions: (task, decisions) => {
      for (const { callId, decision } of decisions) task.say(`${callId}: ${decision}. `);
      if (task.pending.length === 0) task.work().complete();
    },
  };
}

async function asking(...callIds: string[]): Promise<FakeAgent> {
  return startAgent(asks(...callIds));
}

/**
 * Delegates a task that asks, and waits for it in two calls. Resolves when the bridge has begun both.
 * @param shown resolves when the client shows the form of the first call
 * @param cancel cancels the first call
 */
async function waitTwice(
  client: FormClient,
  shown: Promise<void>,
  cancel?: AbortSignal,
): Promise<{ first: Promise<FormResult>; second: Promise<FormResult> }> {
  const asked = await client.call(DELEGATE, { task: 'do it', waitSeconds: 0 });
  const sessionId = asked.structuredContent?.sessionId;
  const first = client.call(WAIT, { sessionId }, cancel);
  await shown;
  const second = client.call(WAIT, { sessionId });
  // The bridge reads the calls in order, so it has begun the second one when it has answered these.
  await client.call(CHECK, { sessionId });
  await client.call(CHECK, { sessionId });
  return { first, second };
}

describe.each(FORM_CLIENTS)('%s', (_, connect, { holds }) => {
  type At = AgentAddress & Partial<Pick<BridgeStart, 'stateDir' | 'args'>>;

  async function clientAt({ url, token, ...start }: At, person: Person): Promise<FormClient> {
    const bridge = await bridgeStart({ url, token }, { args: FAST_ANSWERS, ...start });
    return closing(await connect(program, bridge, person));
  }

  let answering: Person;
  const sharedForms = (args: readonly string[]): ReturnType<typeof shared<FormClient>> =>
    shared(
      async (agent) =>
        connect(program, await bridgeStart(agent, { args }), (form, taken) => answering(form, taken)),
      (client) => client.close(),
    );
  const onBridge = sharedForms(FAST_ANSWERS);
  const onSlowBridge = sharedForms(['--fastest-answer-seconds', '60']);

  test('R67 a form shows the preview to the person, "Accept" approves, and the call returns the result', async () => {
    const { agent, bridge: client } = await onBridge(asks('one'));
    const messages: string[] = [];
    answering = (form, taken) => {
      messages.push(form.message);
      return approving(form, taken);
    };
    const done = await client.call(DELEGATE, { task: 'do it' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'one: approve.' });
    expect(messages).toHaveLength(1);
    expect(messages[0]).toBe('Create one.md: +1\n+ hello');
    expect(decisionChannels(agent)).toEqual(['elicitation']);
    expect(agent.tasks.size).toBe(1);
  });

  test('R100 a call returns in time if the agent does not confirm the decision in a form, and the decision arrives later, once', async () => {
    const agent = await asking('one');
    const releases: (() => void)[] = [];
    const client = await clientAt({ url: agent.url }, (form, taken) => {
      releases.push(agent.hold());
      return approving(form, taken);
    });
    let late = await client.call(DELEGATE, { task: 'do it', waitSeconds: 1 });
    const sessionId = late.structuredContent?.sessionId;
    // On a busy machine, the time of a call may end before the person has answered its form.
    while (!textOf(late).includes('has not confirmed this decision yet'))
      late = await client.call(WAIT, { sessionId, waitSeconds: 1 });
    for (const release of releases) release();
    const done = await client.call(WAIT, { sessionId });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'one: approve.' });
    expect(agent.decisions).toHaveLength(1);
  });

  (holds ? test : test.skip)(
    'R67 two calls that wait for the same session show one form, and both return the result',
    async () => {
      const { bridge: client } = await onBridge(asks('one'));
      const [shown, answer] = [signal(), signal()];
      let forms = 0;
      answering = async (form, taken) => {
        forms += 1;
        shown.happen();
        await answer.happened;
        return approving(form, taken);
      };
      const { first, second } = await waitTwice(client, shown.happened);
      answer.happen();
      for (const done of [await first, await second])
        expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'one: approve.' });
      expect(forms).toBe(1);
    },
  );

  (holds ? test : test.skip)(
    'R67 if a call is cancelled while its form is open, another call that waits for the session shows the form',
    async () => {
      const { bridge: client } = await onBridge(asks('one'));
      const [shown, again] = [signal(), signal()];
      let forms = 0;
      answering = async (form, taken) => {
        forms += 1;
        if (forms === 2) {
          again.happen();
          return approving(form, taken);
        }
        shown.happen();
        return new Promise(() => undefined);
      };
      const cancel = new AbortController();
      const { first, second } = await waitTwice(client, shown.happened, cancel.signal);
      cancel.abort();
      await expect(first).rejects.toThrow();
      await again.happened;
      expect((await second).structuredContent).toMatchObject({ state: 'completed' });
    },
  );

  test('R67 D3 each pending action has its own form, and "Decline" denies only that action', async () => {
    const agent = await asking('one', 'two');
    const args = [...FAST_ANSWERS, '--forms', 'more'];
    const client = await clientAt({ url: agent.url, args }, ({ message }) =>
      message.includes('two.md') ? { action: 'decline' } : { action: 'accept', content: { reason: 'good' } },
    );
    const done = await client.call(DELEGATE, { task: 'do it' });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(agent.decisions).toMatchObject([
      { callId: 'one', shown: 'hash-of-one', decision: 'approve', reason: 'good' },
      { callId: 'two', shown: 'hash-of-two', decision: 'deny' },
    ]);
  });

  test.each<[string, Person, typeof onBridge, RegExp]>([
    ['a form that is closed', () => ({ action: 'cancel' }), onBridge, /closed without an answer/],
    ['an Accept that is too fast', approving, onSlowBridge, /faster than anybody reads/],
    ['a Decline that is too fast', () => ({ action: 'decline' }), onSlowBridge, /faster than/],
  ])(
    'R67 after %s the action is still pending, and the tool can decide it',
    async (__, person, onSuitableBridge, says) => {
      const { agent, bridge: client } = await onSuitableBridge(asks('one'));
      answering = person;
      const asked = await client.call(DELEGATE, { task: 'do it' });
      expect(asked.structuredContent).toMatchObject({
        state: 'input_required',
        pending: [{ callId: 'one' }],
      });
      expect(textOf(asked)).toMatch(says);
      expect(agent.decisions).toEqual([]);
      const decided = await client.call(DECIDE, decisionFor(asked));
      expect(decided.structuredContent).toMatchObject({ state: 'completed', output: 'one: approve.' });
      expect(decisionChannels(agent)).toEqual(['tool']);
    },
  );

  test('R67 if a client is killed while a form is open, the action stays pending, and another client gets a new form', async () => {
    const agent = await asking('one');
    const stateDir = await stateDirectory();
    const shown = signal();
    const client = await clientAt({ url: agent.url, stateDir }, () => {
      shown.happen();
      return new Promise(() => undefined);
    });
    const lost = client.call(DELEGATE, { task: 'do it' }).catch(() => 'lost');
    await shown.happened;
    await client.close();
    if (holds) expect(await lost).toBe('lost');
    expect(agent.decisions).toEqual([]);
    const other = await clientAt({ url: agent.url, stateDir }, approving);
    const done = await other.call(WAIT, { sessionId: 'session-1' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'one: approve.' });
    expect(agent.decisions).toHaveLength(1);
  });

  test('R67 B2 if the tool decides while a form is open, the bridge withdraws or ignores the form, and sends one decision', async () => {
    const { agent, bridge: client } = await onBridge(asks('one'));
    const shown = signal();
    const decided = signal();
    const withdrawn = signal();
    answering = async (_form, taken) => {
      taken.addEventListener('abort', withdrawn.happen);
      shown.happen();
      await decided.happened;
      return { action: 'decline' };
    };
    const call = client.call(DELEGATE, { task: 'do it' });
    await shown.happened;
    const decision = {
      sessionId: agent.task.contextId,
      title: 'Write one.md',
      callId: 'one',
      shown: 'hash-of-one',
      decision: 'approve',
    };
    const tool = await client.call(DECIDE, decision);
    expect(tool.structuredContent).toMatchObject({ state: 'completed', output: 'one: approve.' });
    if (holds) await withdrawn.happened;
    decided.happen();
    // The result of the deciding call contains the output already. So this result must not wait for more.
    expect((await call).structuredContent).toMatchObject({ state: 'completed' });
    expect(agent.decisions).toMatchObject([{ decision: 'approve' }]);
    expect(decisionChannels(agent)).toEqual(['tool']);
  });

  test.each<[string, FakeAgentOptions]>([
    ['on the stream, if the agent keeps its streams open', {}],
    ['with a status request, if the streams of the agent end', { extensions: [TOOL_APPROVAL_EXTENSION] }],
  ])(
    'R67 if another client decides, the bridge withdraws the form; it notices the decision %s',
    async (__, options) => {
      const agent = await startAgent({ ...options, ...asks('one') });
      const shown = signal();
      const decided = signal();
      const client = await clientAt(agent, async () => {
        shown.happen();
        await decided.happened;
        return { action: 'decline' };
      });
      const call = client.call(DELEGATE, { task: 'do it' });
      await shown.happened;
      if (holds && options.extensions === undefined) await agent.asked('subscribe');
      const looks = agent.count('GetTask');
      const other = await startClient(agent);
      await other.call(DECIDE, {
        sessionId: 'session-1',
        title: 'Write one.md',
        callId: 'one',
        shown: 'hash-of-one',
        decision: 'approve',
      });
      if (!holds) decided.happen();
      expect((await call).structuredContent).toMatchObject({ state: 'completed', output: 'one: approve.' });
      decided.happen();
      expect(agent.decisions).toMatchObject([{ decision: 'approve' }]);
      // The bridge that reads the task here belongs to the client that decides. It finds the session, and then
      // decides.
      if (holds && options.extensions === undefined) expect(agent.count('GetTask') - looks).toBe(2);
    },
  );

  test('R67 with human-only, a tool call cannot decide and returns how to decide; a form can decide', async () => {
    const agent = await asking('one');
    let answer: ReturnType<Person> = { action: 'cancel' };
    const args = [...FAST_ANSWERS, '--approvals', 'human-only'];
    const client = await clientAt({ url: agent.url, args }, () => answer);
    const trusting = await client.call(DELEGATE, { task: 'do it', autoExecute: true });
    expect(textOf(trusting)).toMatch(/Leave out autoExecute/);
    expect(agent.tasks.size).toBe(0);
    const asked = await client.call(DELEGATE, { task: 'do it' });
    expect(textOf(asked)).toMatch(/Only the person can decide this.*wait_for_task/);
    const refused = await client.call(DECIDE, decisionFor(asked));
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(/only from the person.*wait_for_task/);
    expect(agent.decisions).toEqual([]);
    answer = { action: 'accept', content: {} };
    const done = await client.call(WAIT, { sessionId: 'session-1' });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(decisionChannels(agent)).toEqual(['elicitation']);
  });

  test('R67 with tool-only, the bridge shows no form', async () => {
    const agent = await asking('one');
    const client = await clientAt({ url: agent.url, args: ['--approvals', 'tool-only'] }, () => {
      throw new Error('asked');
    });
    const asked = await client.call(DELEGATE, { task: 'do it' });
    expect(asked.structuredContent).toMatchObject({ state: 'input_required' });
    expect(asked.structuredContent).not.toHaveProperty('notes');
  });

  test('R67 R01 with the real server, "Accept" in the form writes the file once', async () => {
    const whole = await sharedStage();
    const client = await clientAt(whole.server, approving);
    const done = await client.call(DELEGATE, {
      task: plan(append('test.md', 'hello\n'), append('test.md', 'again\n'), { say: 'Done.' }),
      workspace: whole.server.workspace,
    });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(await whole.file('test.md')).toBe('hello\nagain\n');
  });

  if (holds)
    test('R67 R48 if the client cancels a call while its form is open, the bridge withdraws the form, and the next call shows it again', async () => {
      const { agent, bridge: client } = await onBridge(asks('one'));
      const shown = signal();
      const withdrawn = signal();
      const forms: unknown[] = [];
      answering = (form, taken) => {
        forms.push(form);
        if (forms.length > 1) return { action: 'accept', content: {} };
        taken.addEventListener('abort', withdrawn.happen);
        shown.happen();
        return new Promise(() => undefined);
      };
      const cancelled = new AbortController();
      const call = client.call(DELEGATE, { task: 'do it' }, cancelled.signal).catch(() => 'cancelled');
      await shown.happened;
      cancelled.abort();
      expect(await call).toBe('cancelled');
      await withdrawn.happened;
      const done = await client.call(WAIT, { sessionId: agent.task.contextId });
      expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'one: approve.' });
      expect(agent.decisions).toHaveLength(1);
      expect(forms).toHaveLength(2);
    });
});

function decisionFor({ structuredContent }: FormResult): Record<string, unknown> {
  return {
    sessionId: structuredContent?.sessionId,
    decision: 'approve',
    title: 'Write one.md',
    callId: 'one',
    shown: 'hash-of-one',
  };
}
