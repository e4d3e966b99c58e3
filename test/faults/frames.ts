/**
 * Malformed MCP frames on the bridge's stdin (X3, B2, B4). The bridge must keep running, write only JSON-RPC to
 * stdout, answer each recognizable request once, and answer the good calls between the malformed frames.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { RawClient, type Line } from '../integration/bridge/support/raw-client.ts';
import { FakeAgent } from '../support/fake-agent.ts';
import { must, type Findings } from './findings.ts';
import { malformedText, malformedValue } from './malformed.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';

/** The time after which MCP clients give up a call without progress, in milliseconds. */
const GIVEN_UP_MS = 60_000;
/**
 * FRAMES: the number of frames for one process. BETWEEN: the number of frames between two good calls. STILL_FRAME: the
 * share of frames that are still JSON-RPC.
 */
const FRAMES = 2_500;
const BETWEEN = 50;
const STILL_FRAME = 0.5;
/** The text of an unexpected failure. The bridge must answer a malformed frame with a more exact error. */
const UNFORESEEN = /unexpected|did not expect|internal error/i;

const GOOD: readonly [Good, ...Good[]] = [
  { method: 'ping', params: {} },
  { method: 'tools/list', params: {} },
  { method: 'resources/list', params: {} },
  { method: 'resources/read', params: { uri: 'task://agent/session/task/state' } },
  { method: 'resources/templates/list', params: {} },
  { method: 'prompts/list', params: {} },
  { method: 'prompts/get', params: { name: 'delegate', arguments: { task: 'Say hi' } } },
  { method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: 'x' }, argument: {} } },
  { method: 'logging/setLevel', params: { level: 'info' } },
  { method: 'tools/abort', params: { toolId: 'none' } },
  { method: 'tasks/get', params: { taskId: 'none' } },
  { method: 'tasks/update', params: { taskId: 'none', inputResponses: { a: { action: 'accept' } } } },
  { method: 'tasks/cancel', params: { taskId: 'none' } },
  { method: 'server/discover', params: { _meta: {} } },
  called('delegate_task_to_assistant', { task: 'Say hi', waitSeconds: 1 }),
  called('approve_or_deny_pending_action', { sessionId: 's', callId: 'c', shown: 's', decision: 'approve' }),
  called('approve_or_deny_pending_action', {
    sessionId: 's',
    decisions: [{ callId: 'c', shown: 's', decision: 'edit', editedInput: { a: 1 } }],
  }),
  called('wait_for_task', { sessionId: 's', waitSeconds: 1 }),
  called('check_task_progress_and_status', { sessionId: 's', since: 1 }),
  called('cancel_running_task', { sessionId: 's', reason: 'r' }),
  called('abort_tool_execution', { toolId: 't' }),
  called('list_all_active_sessions', { state: 'working' }),
  called('quick_consultation_for_second_opinion', { question: 'q' }),
  called('get_agent_capabilities_and_version', {}),
  { method: 'notifications/cancelled', params: { requestId: 1, reason: 'r' } },
  { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
  { method: 'notifications/initialized', params: {} },
  { method: 'notifications/roots/list_changed', params: {} },
];

interface Good {
  method: string;
  params: Record<string, unknown>;
}

function called(name: string, args: Record<string, unknown>): Good {
  return { method: 'tools/call', params: { name, arguments: args, _meta: { progressToken: 'p' } } };
}

export async function framesRound(round: number, programs: Programs, findings: Findings): Promise<void> {
  const random = new Random(findings.seed, 'frames', round);
  const directory = await mkdtemp(join(tmpdir(), 'frames-'));
  const agent = await FakeAgent.start({ onMessage: (task) => task.work().say('hi').complete() });
  const program = { script: programs.bridge, directory, remove: async () => undefined };
  const client = await RawClient.start(program, { stateDir: directory, agentUrl: agent.url });
  try {
    await pelted(client, random, findings);
    const done = await client.call('delegate_task_to_assistant', { task: 'Say hi' });
    must(
      done.isError !== true,
      () => `a good delegation failed after the malformed frames: ${JSON.stringify(done)}`,
    );
    const code = await client.close();
    must(code === 0, () => `the bridge ended with ${String(code)}: ${client.stderr.slice(-2_000)}`);
  } finally {
    await client.kill();
    await agent.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function pelted(client: RawClient, random: Random, findings: Findings): Promise<void> {
  const { process: child } = client;
  // If the process has ended, a write to stdin fails. The exit code reports that end, so this error needs no handling.
  child.stdin.on('error', () => undefined);
  const exited = new Promise<undefined>((resolve) => child.once('exit', () => resolve(undefined)));
  const owed: Owed[] = [];
  for (let frame = 1; frame <= FRAMES; frame += 1) {
    const good = random.pick(GOOD);
    if (random.chance(STILL_FRAME)) owed.push(...still(client, good, { random, frame }));
    else child.stdin.write(oneLine(malformedText(framed(good, frame), random)));
    findings.count('frames: malformed frames');
    if (frame % BETWEEN !== 0) continue;
    const pong = await Promise.race([client.request('ping', {}), exited, tooLate()]);
    must(pong?.result !== undefined, () => dead(client, `no answer to a ping after frame ${String(frame)}`));
    must(
      client.invalidLines.length === 0,
      () => `stdout contains text that is not MCP: ${client.invalidLines[0]?.slice(0, 500)}`,
    );
  }
  for (const { asked, answer } of owed) {
    const line = await Promise.race([answer, exited, tooLate()]);
    must(line !== undefined, () => dead(client, `not answered: ${asked}`));
    judged(line, findings);
  }
}

const tooLate = (): Promise<undefined> => pause(GIVEN_UP_MS, undefined, { ref: false });

interface Owed {
  asked: string;
  answer: Promise<Line>;
}

/** Sends a frame with valid method and id, and with malformed parameters. @returns its answer, if it must get one */
function still(
  client: RawClient,
  { method, params }: Good,
  { random, frame }: { random: Random; frame: number },
): Owed[] {
  const wrong = malformedValue(params, random);
  if (method.startsWith('notifications/')) {
    client.process.stdin.write(
      `${JSON.stringify({ ...framed({ method, params }, frame), params: wrong })}\n`,
    );
    return [];
  }
  const { answer } = client.send(method, wrong, `f${String(frame)}`);
  return [{ asked: JSON.stringify({ method, params: wrong }).slice(0, 1_000), answer }];
}

function framed({ method, params }: Good, frame: number): Record<string, unknown> {
  const id = method.startsWith('notifications/') ? {} : { id: `m${String(frame)}` };
  return { jsonrpc: '2.0', ...id, method, params };
}

/** Replaces line ends, because a line end would end the frame. */
function oneLine(bytes: Buffer): Buffer {
  const line = bytes.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte));
  return Buffer.concat([line, Buffer.from('\n')]);
}

const failed = z.object({
  isError: z.literal(true),
  content: z.tuple([z.object({ text: z.string().min(1) })]),
});

/** A failure must have a type: a JSON-RPC error, or a tool result with a sentence (B4). */
function judged({ result, error }: Line, findings: Findings): void {
  if (error !== undefined) {
    findings.count('frames: answered with an error');
    must(
      Number.isInteger(error.code) && error.message !== '',
      () => `an error without a text: ${JSON.stringify(error)}`,
    );
    must(error.code !== -32_603, () => `an internal error: ${error.message}`);
    return;
  }
  const sentence = failed.safeParse(result).data?.content[0].text;
  findings.count(
    sentence === undefined ? 'frames: answered with a result' : 'frames: answered with a sentence',
  );
  must(sentence === undefined || !UNFORESEEN.test(sentence), () => `an unexpected failure: ${sentence}`);
}

function dead({ process: child, stderr }: RawClient, what: string): string {
  return `${what} (exit code ${String(child.exitCode)}): ${stderr.slice(-2_000)}`;
}
