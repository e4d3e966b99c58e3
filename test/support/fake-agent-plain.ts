/**
 * A typical agent on the SDK's server: A2A 1.0 or 0.3 over JSON-RPC or HTTP+JSON, with the SDK's request handler and
 * task store, and no extension. By default it asks for a name and greets the person.
 */
import { createServer } from 'node:http';
import { type AgentCard, TaskState } from '@a2a-js/sdk';
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { part, firstTask, agentMessage } from './fake-agent-task.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';

export interface PlainAgent {
  url: string;
  /** The texts of the messages that the agent has received. */
  received: string[];
  stop: () => Promise<void>;
}

interface PlainAgentOptions {
  /** The executor of the agent. By default, the agent asks for a name and greets the person. */
  executor?: AgentExecutor;
  /** The port to listen on, e.g. that of an earlier agent. */
  port?: number;
  /** The only transport that the agent offers. */
  binding?: 'JSONRPC' | 'HTTP+JSON';
  /** Fields of the card that differ from the usual ones. */
  card?: Partial<AgentCard>;
}

/** @param version the A2A version of the agent */
export async function plainAgent(
  version: '1.0' | '0.3',
  { executor, port = 0, binding = 'JSONRPC', card: own }: PlainAgentOptions = {},
): Promise<PlainAgent> {
  const received: string[] = [];
  const app = express();
  const server = createServer(app);
  const { host, close } = await listenOnLoopback(server, port);
  const url = `http://${host}`;
  const card = { ...cardAt(url, version, binding), ...own };
  const tasks = new InMemoryTaskStore();
  const requestHandler = new DefaultRequestHandler(card, tasks, executor ?? greeter(received));
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  const serve = binding === 'JSONRPC' ? jsonRpcHandler : restHandler;
  app.use(
    '/',
    serve({
      requestHandler,
      userBuilder: UserBuilder.noAuthentication,
      legacyCompat: { enabled: version === '0.3' },
    }),
  );
  return {
    url,
    received,
    stop: close,
  };
}

function greeter(received: string[]): AgentExecutor {
  return {
    async execute({ taskId, contextId, task, userMessage }: RequestContext, bus: ExecutionEventBus) {
      const words = userMessage.parts
        .map((each) => (each.content?.$case === 'text' ? each.content.value : ''))
        .join('');
      received.push(words);
      const status = (state: TaskState, text?: string) => ({
        state,
        timestamp: new Date().toISOString(),
        message:
          text === undefined
            ? undefined
            : agentMessage(text, { messageId: `${taskId}-${String(received.length)}`, contextId, taskId }),
      });
      const update = (state: TaskState, text?: string): void =>
        bus.publish({
          kind: 'statusUpdate',
          data: { taskId, contextId, status: status(state, text), metadata: undefined },
        });
      // The SDK requires the task as the first event, even for a continued task. So the agent sends the old question
      // again.
      const first = firstTask({ taskId, contextId, userMessage }, TaskState.TASK_STATE_SUBMITTED);
      bus.publish({ kind: 'task', data: task ?? first });
      if (task === undefined) {
        update(TaskState.TASK_STATE_INPUT_REQUIRED, 'What is your name?');
      } else {
        update(TaskState.TASK_STATE_WORKING);
        bus.publish({
          kind: 'artifactUpdate',
          data: {
            taskId,
            contextId,
            artifact: {
              artifactId: 'greeting',
              name: 'greeting',
              description: '',
              parts: [part({ $case: 'text', value: `Hello, ${words}!` })],
              metadata: undefined,
              extensions: [],
            },
            append: false,
            lastChunk: true,
            metadata: undefined,
          },
        });
        update(TaskState.TASK_STATE_COMPLETED);
      }
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      const status = {
        state: TaskState.TASK_STATE_CANCELED,
        timestamp: new Date().toISOString(),
        message: undefined,
      };
      bus.publish({ kind: 'statusUpdate', data: { taskId, contextId: '', status, metadata: undefined } });
      bus.finished();
    },
  };
}

function cardAt(url: string, version: string, binding: string): AgentCard {
  return {
    name: 'plain agent',
    description: '',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: version, tenant: '' }],
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  };
}
