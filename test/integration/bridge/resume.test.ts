import { afterEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Agent } from '../../../bridge/agents/agent.ts';
import { agentOutputText } from '../../../bridge/mcp/reports/session-report.ts';
import { buildUserMessage } from '../../../bridge/sessions/delegation-message.ts';
import { Session } from '../../../bridge/sessions/session/session.ts';
import { waitForSession, type WaitEndReason } from '../../../bridge/sessions/wait-for-session.ts';
import { DecisionClaims } from '../../../bridge/state/decision-claims.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import { temporaryDatabase } from '../../support/bridge-database.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { FakeAgent, type FakeAgentOptions } from '../../support/fake-agent.ts';

const QUICK = { retries: 3, minTimeout: 1, maxTimeout: 5, factor: 2, randomize: false };
const WORDS = ['one ', 'two ', 'three ', 'four ', 'five ', 'six '];

describe('an A2A stream that breaks', () => {
  const open: { close: () => unknown }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  async function start(options: FakeAgentOptions): Promise<{ fake: FakeAgent; session: Session }> {
    const fake = await FakeAgent.start(options);
    const { url } = fake;
    const agent = new Agent('fake', async () => ({ url, headers: {} }));
    const session = new Session(agent, randomUUID(), {
      backOff: QUICK,
      claims: new DecisionClaims(await temporaryDatabase()),
    });
    open.push({ close: () => session.close() }, { close: () => fake.stop() });
    return { fake, session };
  }

  // The stream has nine events (the task, "working", six words, "completed"). So it can break after each of them.
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9])(
    'R64 R25 S1 a stream that breaks after %i events resumes from its cursor, and no event is missing or repeated',
    async (cutAfter) => {
      const { fake, session } = await start({
        onMessage: (task) => {
          task.work();
          for (const word of WORDS) task.say(word);
          task.complete();
        },
      });
      fake.cutAfter = cutAfter;
      expect(await settle(session, deliver(session))).toBe('settled');
      expect(session.view?.state).toBe('completed');
      expect(agentOutputText(session.view ?? never())).toBe(WORDS.join('').trim());
      // Node may drop unread data when a stream fails. Then the bridge gets no answer and sends the message again.
      // The agent works once (B1).
      const sent = fake.requests.filter((each) => each.method === 'SendStreamingMessage');
      expect(new Set(sent.map(({ params }) => JSON.stringify(params['message']))).size).toBe(1);
      expect(fake.tasks.size).toBe(1);
      const cursors = fake.requests
        .filter((each) => each.method === 'subscribe')
        .map((each) => Number(each.headers['last-event-id']));
      expect(cursors).toEqual(cursors.toSorted((a, b) => a - b));
      expect(cursors.every((cursor) => cursor > 0)).toBe(true);
    },
  );

  test('R64 after a break of a stream without cursors, the bridge reads the current task, and repeats no output', async () => {
    const { fake, session } = await start({
      extensions: [TOOL_APPROVAL_EXTENSION],
      onMessage: (task) => {
        task.work();
        for (const word of WORDS) task.say(word);
        task.complete();
      },
    });
    fake.cutAfter = 3;
    expect(await settle(session, deliver(session))).toBe('settled');
    expect(agentOutputText(session.view ?? never())).toBe(WORDS.join('').trim());
    expect(fake.count('SendStreamingMessage')).toBe(1);
  });

  test('R64 if the connection is reset while the task works, the bridge subscribes again, and the client’s wait continues', async () => {
    const { fake, session } = await start({ onMessage: (task) => task.work().say('before ') });
    await deliver(session);
    const waiting = settle(session);
    fake.cutStreams();
    await fake.asked('subscribe');
    fake.task.say('after').complete();
    expect(await waiting).toBe('settled');
    expect(agentOutputText(session.view ?? never())).toBe('before after');
  });

  test('R64 after the last retry the wait ends, the session keeps its id, and the next wait gets the rest of the output', async () => {
    const { fake, session } = await start({ onMessage: (task) => task.work().say('before ') });
    await deliver(session);
    const waiting = settle(session);
    const { port, tasks } = fake;
    await fake.stop();
    expect(await waiting).toBe('stream-lost');
    expect(session.streamProblem?.message).toContain('cannot be reached');
    expect(session.id).toBe('session-1');
    const back = await FakeAgent.start({ port, tasks });
    open.push({ close: () => back.stop() });
    await session.refresh();
    const again = settle(session);
    back.task.say('after').complete();
    expect(await again).toBe('settled');
    expect(agentOutputText(session.view ?? never())).toBe('before after');
  });

  test('R20 if an agent restarts at another address while its task waits, the bridge finds it, and the task continues', async () => {
    const fake = await FakeAgent.start({ onMessage: (task) => task.work().ask(pendingWrite('one')) });
    let { url } = fake;
    const session = new Session(new Agent('fake', async () => ({ url, headers: {} })), randomUUID(), {
      backOff: QUICK,
      claims: new DecisionClaims(await temporaryDatabase()),
    });
    open.push({ close: () => session.close() });
    await settle(session, deliver(session));
    await fake.stop();
    const back = await FakeAgent.start({ tasks: fake.tasks, onDecisions: (task) => task.work().complete() });
    open.push({ close: () => back.stop() });
    url = back.url;
    await session.refresh();
    const decision = {
      type: 'decision',
      decision: { callId: 'one', shown: 'hash-of-one', decision: 'approve', scope: 'once' },
    } as const;
    const delivery = session.deliver((dialect) =>
      buildUserMessage(dialect.phraseDecisions([decision], session.pendingInput, 'tool'), {
        messageId: randomUUID(),
        sessionId: session.id,
        taskId: session.view?.taskId ?? null,
      }),
    );
    expect(await settle(session, delivery)).toBe('settled');
    expect(session.view?.state).toBe('completed');
    expect(back.decisions).toHaveLength(1);
  });

  test('R63 if an agent has lost the task, the result says so at once, and the bridge does not try again', async () => {
    const { fake, session } = await start({ onMessage: (task) => task.work() });
    await deliver(session);
    const waiting = settle(session);
    fake.tasks.clear();
    fake.cutStreams();
    expect(await waiting).toBe('settled');
    expect(session.state).toMatchObject({ type: 'unknown-to-agent', error: { reason: 'UNKNOWN_TASK' } });
    expect(fake.count('subscribe')).toBe(1);
  });

  test('B1 if the answer to a message is lost, the bridge sends the message again to an agent that de-duplicates, and the work runs once', async () => {
    const { fake, session } = await start({ onMessage: (task) => task.work().say('done').complete() });
    const release = fake.hold();
    const waiting = settle(session, deliver(session));
    await fake.asked('SendStreamingMessage');
    const { port, tasks } = fake;
    release();
    await fake.stop();
    const back = await FakeAgent.start({
      port,
      tasks,
      onMessage: (task) => task.work().say('done').complete(),
    });
    open.push({ close: () => back.stop() });
    expect(await waiting).toBe('settled');
    const ids = [...fake.requests, ...back.requests].flatMap(({ method, params }) =>
      method === 'SendStreamingMessage' ? [JSON.stringify(params['message'])] : [],
    );
    expect(new Set(ids).size).toBe(1);
    expect(agentOutputText(session.view ?? never())).toBe('done');
  });

  test('E4 if the bridge stops following a session, the task on the agent continues', async () => {
    const { fake, session } = await start({ onMessage: (task) => task.work() });
    await deliver(session);
    session.close();
    expect(fake.task.ended).toBe(false);
    expect(fake.count('CancelTask')).toBe(0);
  });
});

function deliver(session: Session): Promise<void> {
  return session.deliver((dialect) =>
    buildUserMessage(dialect.phraseTask('go', {}), {
      messageId: session.firstMessageId,
      sessionId: null,
      taskId: null,
    }),
  );
}

function settle(session: Session, delivery?: Promise<void>): Promise<WaitEndReason> {
  const { signal } = new AbortController();
  return waitForSession({
    session,
    timeout: 20_000,
    signal,
    ...(delivery === undefined ? {} : { delivery }),
  });
}

function never(): never {
  throw new Error('there is no view');
}
