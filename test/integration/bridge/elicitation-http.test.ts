/** Tests two clients of one bridge over HTTP. One client has an open form, and the other client decides. */
import { describe, expect, test } from '@jest/globals';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { FakeAgent } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { signal } from '../../support/signal.ts';
import {
  DECIDE,
  DELEGATE,
  FAST_ANSWERS,
  closeAfterTest,
  closing,
  startAgent,
  startHttp,
} from './support/bridge-stage.ts';
import { decisionChannels } from './support/decision-channels.ts';
import { type FormAnswer, type FormResult, formResult } from './support/form-client.ts';
import type { HttpBridge } from './support/http-bridge.ts';
import { HTTP_CLIENTS } from './support/http-client.ts';

const INFO = { name: 'test', version: '0' };

type Person = (withdrawn: AbortSignal) => Promise<FormAnswer>;
interface Asked {
  call: (name: string, args: Record<string, unknown>) => Promise<FormResult>;
  close: () => Promise<void>;
}

const ASKED: readonly [string, (bridge: HttpBridge, person: Person) => Promise<Asked>][] = [
  [
    'the 1.x client',
    async ({ url, credentials }, person) => {
      const client = new Client1(INFO, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, async (_, extra) => ({
        ...(await person(extra.signal)),
      }));
      await client.connect(new Http1(new URL(url), { requestInit: { headers: credentials } }));
      return {
        call: async (name, args) => formResult.parse(await client.callTool({ name, arguments: args })),
        close: () => client.close(),
      };
    },
  ],
  [
    'the 2.x client, revision 2025-11-25',
    async ({ url, credentials }, person) => {
      const client = new Client2(INFO, {
        versionNegotiation: { mode: 'legacy' },
        capabilities: { elicitation: { form: {} } },
      });
      client.setRequestHandler('elicitation/create', async (_, { mcpReq }) => ({
        ...(await person(mcpReq.signal)),
      }));
      await client.connect(new Http2(new URL(url), { requestInit: { headers: credentials } }));
      return {
        call: async (name, args) => formResult.parse(await client.callTool({ name, arguments: args })),
        close: () => client.close(),
      };
    },
  ],
];

describe.each(ASKED)('%s over HTTP', (_, connect) => {
  async function before(person: Person): Promise<{ agent: FakeAgent; bridge: HttpBridge; client: Asked }> {
    const agent = await startAgent({
      onMessage: (task) => task.work().ask(pendingWrite('one')),
      onDecisions: (task, [decision]) => task.work().say(`decided ${decision?.decision}`).complete(),
    });
    const bridge = await startHttp(agent, { args: FAST_ANSWERS });
    return { agent, bridge, client: closing(await connect(bridge, person)) };
  }

  test('R67 the form of a call arrives in the response stream of that call', async () => {
    const { agent, client } = await before(async () => ({ action: 'accept', content: {} }));
    const done = await client.call(DELEGATE, { task: 'do it' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'decided approve' });
    expect(decisionChannels(agent)).toEqual(['elicitation']);
  });

  test('R67 if another client decides with the tool, the bridge withdraws the form, and the call returns the result', async () => {
    const shown = signal();
    const withdrawn = signal();
    const { agent, bridge, client } = await before((taken) => {
      taken.addEventListener('abort', withdrawn.happen);
      shown.happen();
      return new Promise(() => undefined);
    });
    const call = client.call(DELEGATE, { task: 'do it' });
    await shown.happened;
    const [, otherConnect] = HTTP_CLIENTS[0] ?? [];
    const other = await otherConnect?.(bridge);
    closeAfterTest(() => other?.close());
    await other?.call(DECIDE, {
      sessionId: 'session-1',
      callId: 'one',
      shown: 'hash-of-one',
      decision: 'deny',
    });
    await withdrawn.happened;
    expect((await call).structuredContent).toMatchObject({ state: 'completed', output: 'decided deny' });
    expect(decisionChannels(agent)).toEqual(['tool']);
  });
});
