import { expect, test } from '@jest/globals';
import { FormHistory } from '../../../../../bridge/approvals/form-history.ts';
import { PageLinks } from '../../../../../bridge/approvals/page-links.ts';
import { registerTaskMethods } from '../../../../../bridge/mcp/tasks/task-methods.ts';
import { createLogger } from '../../../../../shared/runtime/logging.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { AskingAgent } from '../../../../support/asking-agent.ts';

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

test('R66 an answer to a form that the agent refuses after the acknowledgement is reported with the next reply', async () => {
  const agent = new AskingAgent();
  const session = agent.session();
  const formHistory = new FormHistory();
  const bridge = {
    sessions: { find: async () => session },
    formHistory,
    links: new PageLinks(),
    rules: { approvals: 'auto', fastestAnswerMs: 0 },
    defaults: { waitSeconds: 0 },
  };
  const methods = new Map<string, (params: object, context: object) => Promise<unknown>>();
  const server = {
    registerCapabilities: () => undefined,
    setRequestHandler: (method: string, _: object, handler: () => Promise<unknown>) =>
      methods.set(method, handler),
  };
  const options = {
    prefix: '',
    log: createLogger({ name: 'test', level: 'silent' }),
    previews: [],
    followed: undefined,
    bridge: async () => bridge,
  };
  Reflect.apply(registerTaskMethods, undefined, [{ server }, options]);
  const [form] = formHistory.asks('task-1', session.asked);
  const mcpReq = {
    signal: new AbortController().signal,
    envelope: { 'io.modelcontextprotocol/clientCapabilities': TASKS },
    inputResponses: { [form?.key ?? '']: { action: 'accept', content: { answer: 'blue' } } },
  };
  agent.respond = () => {
    throw new ProductError('AGENT_ERROR', 'The agent is full.');
  };
  const taskId = 'session-1::task-1';
  expect(await methods.get('tasks/update')?.({ taskId }, { mcpReq })).toEqual({ resultType: 'complete' });
  expect(session.takeNotes()).toEqual([]);
  const failed = new Promise<void>((resolve) => {
    session.listen(({ type }) => type === 'decisions-sent' && setImmediate(resolve));
  });
  agent.begins.happen();
  await failed;
  expect(session.takeNotes()).toEqual(['An earlier decision failed: The agent is full.']);
  session.close();
});
