/** Tests that a program which answers forms instead of a person decides nothing. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Message, StreamResponse } from '@a2a-js/sdk';
import { Agent } from '../../../../bridge/agents/agent.ts';
import { taskAsStreamResponse } from '../../../../bridge/agents/task-as-stream-response.ts';
import type { A2aConnection } from '../../../../bridge/agents/connection.ts';
import { askPersonInCall } from '../../../../bridge/approvals/ask-in-call.ts';
import { buildOfferedForms } from '../../../../bridge/approvals/forms-to-offer.ts';
import { FormHistory } from '../../../../bridge/approvals/form-history.ts';
import { PageLinks } from '../../../../bridge/approvals/page-links.ts';
import { submitFormAnswers } from '../../../../bridge/approvals/submit-form-answers.ts';
import { Session } from '../../../../bridge/sessions/session/session.ts';
import { FakeTask, pendingWrite } from '../../../support/fake-agent-task.ts';
import { quietConnection } from '../../../support/quiet-connection.ts';

const FASTEST_ANSWER_MS = 1_000;
const A_MINUTE_MS = 60_000;

/** An agent in memory whose task waits for one decision. */
class AskingAgent extends Agent {
  readonly task = new FakeTask('task-1', 'session-1', true).work().ask(pendingWrite('one'));
  readonly received: Message[] = [];
  readonly connection: A2aConnection = quietConnection({
    send: (message) => this.#answer(message),
    follow: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    task: () => Promise.resolve(this.task.toTask()),
    cancel: () => Promise.reject(new Error('nobody cancels')),
    list: () => Promise.resolve({ tasks: [], total: 0 }),
  });

  constructor() {
    super('asking', () => Promise.reject(new Error('nobody is asked where it is')));
  }

  override connect(): Promise<A2aConnection> {
    return Promise.resolve(this.connection);
  }

  async *#answer(message: Message): AsyncIterable<StreamResponse> {
    this.received.push(message);
    yield taskAsStreamResponse(this.task.complete().toTask());
  }
}

/** Answers each form at once, as some clients do without a person. */
const accept = { action: 'accept', content: {} };

describe('a program that accepts each form at once', () => {
  let agent: AskingAgent;
  let session: Session;
  let formHistory: FormHistory;
  let now = 0;

  beforeEach(() => {
    agent = new AskingAgent();
    const claims = { take: () => Promise.resolve(undefined), release: () => undefined };
    session = new Session(agent, 'session-1', { claims });
    session.applyEvent(taskAsStreamResponse(agent.task.toTask()), agent.connection);
    now = 0;
    formHistory = new FormHistory({ now: () => now });
  });
  afterEach(() => session.close());

  const rules = { approvals: 'auto', fastestAnswerMs: FASTEST_ANSWER_MS } as const;

  test('R67 D1 decides nothing, however often the tool is called; after four forms, the result names the command line', async () => {
    const shown: unknown[] = [];
    const client = {
      tasks: false,
      forms: 'push',
      cards: false,
      opensUrls: false,
      openForms: new Map(),
      round: undefined,
      permit: undefined,
      elicit: async (form: unknown) => {
        shown.push(form);
        return accept;
      },
      completed: async () => undefined,
      roots: async () => [],
    } as const;
    let notes: readonly string[] = [];
    for (let call = 1; call <= 10; call += 1) {
      const asking = {
        session,
        client,
        formHistory,
        links: new PageLinks(),
        rules,
        signal: new AbortController().signal,
        timeout: A_MINUTE_MS,
        wait: async () => 'settled' as const,
      };
      ({ notes } = await askPersonInCall(asking, 'settled'));
      now += A_MINUTE_MS;
    }
    expect(agent.received).toEqual([]);
    expect(shown).toHaveLength(4);
    expect(notes.join('\n')).toContain('mcp-a2a-bridge approve hash-of-one');
  });

  test('R66 D1 decides nothing in an MCP task, also if it answers the last form again and again', async () => {
    const links = new PageLinks();
    const keys = new Set<string>();
    let last: string | undefined;
    for (let poll = 1; poll <= 10; poll += 1) {
      const { forms } = await buildOfferedForms({ session, formHistory, links, opensUrls: false });
      const asks = forms.map(({ ask }) => ask);
      formHistory.recordSent('task-1', asks);
      last = asks[0]?.key ?? last;
      if (last === undefined) throw new Error('no form was offered');
      keys.add(last);
      const responses = { [last]: accept };
      await submitFormAnswers({ session, responses, channel: 'task-form', formHistory, links, rules });
      now += FASTEST_ANSWER_MS / 2;
    }
    expect(agent.received).toEqual([]);
    expect(keys.size).toBe(4);
  });

  test('R67 a form that a second tool call shows again must be read again', async () => {
    const [ask] = formHistory.lastOffered('task-1', session.pendingInput);
    if (ask === undefined) throw new Error('no form was offered');
    formHistory.recordShown('task-1', [ask]);
    now += A_MINUTE_MS;
    formHistory.recordShown('task-1', [ask]);
    expect(formHistory.ageOfFormMs('task-1', ask)).toBe(0);
  });
});
