import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ServerContext } from '@modelcontextprotocol/server';
import { taskAsStreamResponse } from '../../../../../bridge/agents/task-as-stream-response.ts';
import { FormHistory } from '../../../../../bridge/approvals/form-history.ts';
import { PageLinks } from '../../../../../bridge/approvals/page-links.ts';
import { registerTaskMethods } from '../../../../../bridge/mcp/tasks/task-methods.ts';
import type { Session } from '../../../../../bridge/sessions/session/session.ts';
import { createLogger } from '../../../../../shared/runtime/logging.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { AskingAgent } from '../../../../support/asking-agent.ts';
import { callWithFakes } from '../../../../support/call-with-fakes.ts';

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const taskId = 'session-1::task-1';

describe('the methods of MCP tasks', () => {
  let agent: AskingAgent;
  let session: Session;
  let formHistory: FormHistory;
  let request: (method: string, facts?: object) => Promise<unknown>;

  beforeEach(() => {
    agent = new AskingAgent();
    session = agent.session();
    formHistory = new FormHistory();
    const bridge = {
      sessions: { find: async () => session, delegatedAt: () => undefined },
      delegations: { collect: () => undefined },
      inbox: { refresh: async () => undefined, take: async () => ({ results: [], more: 0 }) },
      formHistory,
      links: new PageLinks(),
      rules: { approvals: 'auto' as const, fastestAnswerMs: 0 },
      defaults: { waitSeconds: 0 },
    };
    const methods = new Map<string, (params: object, context: ServerContext) => unknown>();
    const server = {
      registerCapabilities: () => undefined,
      setRequestHandler: (
        method: string,
        _: object,
        handler: (params: object, context: ServerContext) => unknown,
      ) => void methods.set(method, handler),
    };
    const log = createLogger({ name: 'test', level: 'silent' });
    const options = { prefix: '', log, draftProtocols: [], followed: undefined, bridge: async () => bridge };
    callWithFakes(registerTaskMethods, { server }, options);
    const { signal } = new AbortController();
    const envelope = { 'io.modelcontextprotocol/clientCapabilities': TASKS };
    request = async (method, facts = {}) => {
      const handle = methods.get(method);
      return handle && callWithFakes(handle, { taskId }, { mcpReq: { signal, envelope, ...facts } });
    };
  });
  afterEach(() => session.close());

  test('R66 an answer to a form that the agent refuses after the acknowledgement is reported with the next reply', async () => {
    const [form] = formHistory.lastOffered('task-1', session.pendingInput);
    const inputResponses = { [form?.key ?? '']: { action: 'accept', content: { answer: 'blue' } } };
    agent.respond = () => {
      throw new ProductError('AGENT_ERROR', 'The agent is full.');
    };
    expect(await request('tasks/update', { inputResponses })).toEqual({ resultType: 'complete' });
    expect(session.takeNotes()).toEqual([]);
    const failed = new Promise<void>((resolve) => {
      session.listen(({ type }) => type === 'decisions-sent' && setImmediate(resolve));
    });
    agent.begins.happen();
    await failed;
    expect(session.takeNotes()).toEqual(['An earlier decision failed: The agent is full.']);
  });

  test('R66 each reading of a cancelled task contains its notes, and a later note follows them', async () => {
    session.applyEvent(taskAsStreamResponse(agent.task.cancel().toTask()), agent.connection);
    const statusMessage = expect.stringMatching(/One answer did not count\.$/);
    session.leaveNotes(['One answer did not count.']);
    expect(await request('tasks/get')).toMatchObject({ status: 'cancelled', statusMessage });
    expect(await request('tasks/get')).toMatchObject({ status: 'cancelled', statusMessage });
    session.leaveNotes(['Nor did another.']);
    expect(await request('tasks/get')).toMatchObject({
      statusMessage: expect.stringMatching(/One answer did not count\. Nor did another\.$/),
    });
  });
});
