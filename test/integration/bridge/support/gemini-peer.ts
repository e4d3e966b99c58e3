/**
 * Starts gemini-cli's a2a-server with a scripted model, as a simulation or as the real program, for the same cases.
 */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakeModelEndpoint } from '../../../support/fake-model-endpoint.ts';
import { FakeGemini } from '../../../support/fake-gemini.ts';
import type { Step } from '../../../support/fake-gemini-task.ts';
import { plannedCall, type ModelCall } from '../../../support/fake-gemini-tools.ts';
import { startGeminiServer } from '../../../support/gemini-server.ts';

/** One answer of the model. */
export interface ModelTurn {
  say?: string;
  calls?: ModelCall[];
}

export interface GeminiPeer {
  url: string;
  workspace: string;
  /** Sets the next answers of the model, in order. */
  script(...turns: ModelTurn[]): void;
  /** Returns the text of all requests to the model. */
  given(): string;
  stop(): Promise<void>;
}

/** Starts the simulation. */
export async function startStandIn(): Promise<GeminiPeer> {
  const { directory, workspace } = await place();
  const turns: ModelTurn[] = [];
  let calls = 0;
  function* answers(): Generator<Step> {
    for (;;) {
      const turn = turns.shift();
      if (turn?.say !== undefined) yield { say: turn.say };
      if (turn?.calls === undefined) return;
      yield { calls: turn.calls.map((call) => plannedCall(call, `call-${String((calls += 1))}`)) };
    }
  }
  const agent = await FakeGemini.start(answers);
  return {
    url: agent.url,
    workspace,
    script: (...more) => void turns.push(...more),
    given: () => [...agent.tasks.values()].flatMap(({ received }) => received).join('\n'),
    stop: async () => {
      await agent.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Starts the real agent. */
export async function startReal(): Promise<GeminiPeer> {
  const { directory, workspace } = await place();
  const model = await startFakeModelEndpoint();
  const server = await startGeminiServer({ modelUrl: model.url, directory, workspace });
  return {
    url: server.url,
    workspace,
    script: (...turns) =>
      model.script(
        ...turns.map(({ say, calls = [] }) => ({
          type: 'turn' as const,
          turn: {
            text: say === undefined ? [] : [say],
            calls: calls.map(({ name, args }) => ({ id: '', name, arguments: JSON.stringify(args) })),
          },
        })),
      ),
    given: () => model.received.map(({ body }) => textsIn(body).join('\n')).join('\n'),
    stop: async () => {
      await server.stop();
      await model.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function place(): Promise<{ directory: string; workspace: string }> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'gemini-peer-')));
  const workspace = join(directory, 'workspace');
  await mkdir(workspace);
  return { directory, workspace };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
