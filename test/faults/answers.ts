/**
 * Malformed answers of agents (X3, R63, B4). The bridge makes many calls at once to agents whose cards, answers and
 * events are malformed. It must keep running, answer each call, report each failure as a sentence, and still serve a
 * good agent.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RawClient, textOf, type ToolResult } from '../integration/bridge/support/raw-client.ts';
import { FakeAgent } from '../support/fake-agent.ts';
import { pendingWrite } from '../support/fake-agent-task.ts';
import { FakeGemini } from '../support/fake-gemini.ts';
import { must, type Findings } from './findings.ts';
import { malformingAgent, type MalformingAgent } from './malforming-agent.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';

/** A round ends after this number of malformed answers. */
const MALFORMED = 1_000;
/** The number of parallel calls. It is high, because some of the calls wait for a retry. */
const AT_ONCE = 60;
const UNFORESEEN = /did not expect|uncaught error|unhandled rejection|unexpected error/;

export async function answersRound(round: number, programs: Programs, findings: Findings): Promise<void> {
  const random = new Random(findings.seed, 'answers', round);
  const directory = await mkdtemp(join(tmpdir(), 'answers-'));
  const newer = await FakeAgent.start({
    onMessage: (task, text) =>
      text.includes('write') ? task.work().ask(pendingWrite('one')) : task.work().say('hi').complete(),
    onDecisions: (task) => task.work().say('written').complete(),
  });
  const older = await FakeGemini.start(() => [{ say: 'hi' }]);
  const malforming = await Promise.all(
    [newer.url, newer.url, older.url].map((url, index) =>
      malformingAgent({ url, random, share: 0.6, card: index === 0 ? 0 : 0.4 }),
    ),
  );
  const agents = {
    good: { url: newer.url },
    ...Object.fromEntries(malforming.map(({ url }, index) => [`bad${String(index)}`, { url }])),
  };
  const config = join(directory, 'config.json');
  await writeFile(config, JSON.stringify({ bridge: { agents } }));
  const program = { script: programs.bridge, directory, remove: async () => undefined };
  const client = await RawClient.start(program, {
    stateDir: join(directory, 'state'),
    args: ['--config', config],
  });
  try {
    await asked(client, { random, newer, malforming, findings });
    const done = await client.call('delegate_task_to_assistant', { task: 'Say hi', agent: 'good' });
    must(
      done.isError !== true,
      () => `the bridge did not serve a good agent after the malformed answers: ${textOf(done)}`,
    );
    must(
      client.invalidLines.length === 0,
      () => `stdout contains text that is not MCP: ${client.invalidLines[0]?.slice(0, 500)}`,
    );
    must(
      !UNFORESEEN.test(client.stderr),
      () => `unexpected error in the log:\n${client.stderr.slice(-4_000)}`,
    );
  } finally {
    await client.kill();
    for (const agent of [...malforming, newer, older]) await agent.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Asking {
  random: Random;
  newer: FakeAgent;
  malforming: readonly MalformingAgent[];
  findings: Findings;
}

async function asked(client: RawClient, { random, newer, malforming, findings }: Asking): Promise<void> {
  const counted = (): number => malforming.reduce((sum, { malformed }) => sum + malformed(), 0);
  const exited = new Promise<undefined>((resolve) => client.process.once('exit', () => resolve(undefined)));
  const lane = async (): Promise<void> => {
    while (counted() < MALFORMED) {
      const [tool, args] = call(random, newer);
      const result = await Promise.race([client.call(tool, args), exited]);
      must(result !== undefined, () => `the bridge ended: ${client.stderr.slice(-4_000)}`);
      judged(result, findings);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  findings.count('answers: malformed answers and events', counted());
}

function call(random: Random, newer: FakeAgent): [string, Record<string, unknown>] {
  const agent = `bad${String(random.between(0, 2))}`;
  const sessions = [...newer.tasks.values()].map(({ contextId }) => contextId);
  const sessionId = sessions[random.between(0, Math.max(0, sessions.length - 1))] ?? 'none';
  return random.pick<[string, Record<string, unknown>]>([
    ['delegate_task_to_assistant', { task: 'Say hi', agent, waitSeconds: 1 }],
    ['delegate_task_to_assistant', { task: 'write', agent, waitSeconds: 1 }],
    ['delegate_task_to_assistant', { task: 'write', sessionId, waitSeconds: 1 }],
    ['quick_consultation_for_second_opinion', { question: 'Say hi', agent }],
    [
      'approve_or_deny_pending_action',
      { sessionId, callId: 'one', shown: 'hash-of-one', decision: 'approve', waitSeconds: 1 },
    ],
    ['wait_for_task', { sessionId, waitSeconds: 1 }],
    ['check_task_progress_and_status', { sessionId }],
    ['cancel_running_task', { sessionId }],
    ['list_all_active_sessions', { agent }],
    ['get_agent_capabilities_and_version', { agent }],
    ['abort_tool_execution', { toolId: 'live-1' }],
  ]);
}

/** B4: each failure must be an expected error with a sentence. */
function judged(result: ToolResult, findings: Findings): void {
  const text = textOf(result);
  findings.count(
    result.isError === true
      ? 'answers: calls that failed with a sentence'
      : 'answers: calls that came through',
  );
  must(result.isError !== true || text.trim() !== '', 'a failure without a text');
  must(!UNFORESEEN.test(text), () => `an unexpected failure: ${text}`);
}
