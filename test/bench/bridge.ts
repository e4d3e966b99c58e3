/**
 * Measures the time that the bridge adds to an A2A call. An MCP client asks the bridge over stdio for the status of a
 * task, and the bridge asks the agent once. The SDK's client sends the same request to the agent directly, twice: the
 * difference of these two is the noise of the method.
 */
import { join } from 'node:path';
import { Client as McpClient } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { Extensions, HTTP_EXTENSION_HEADER } from '@a2a-js/sdk';
import { RESUMABLE_STREAM_EXTENSION } from '../../shared/protocol/resumable-stream-extension.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/tool-approval.ts';
import { cardOf, clientFor, startAgent } from './agent.ts';
import type { Agent } from './agent.ts';
import type { BenchContext, Benchmark, Figure } from './benchmark.ts';
import { ownProgram } from './child-program.ts';
import { median, medianOf, quantileOf } from './statistics.ts';

const SAMPLES = 1_000;
/** The first pairs are discarded, because Node still compiles code. */
const WARM_UP = 300;

const MEDIAN_AIM_MS = 1;
const P99_AIM_MS = 5;

/** The history length that the bridge requests. */
const HISTORY = 100;
const EXTENSIONS = {
  serviceParameters: {
    [HTTP_EXTENSION_HEADER]: Extensions.toServiceParameter([
      TOOL_APPROVAL_EXTENSION,
      RESUMABLE_STREAM_EXTENSION,
    ]),
  },
};

export const bridge: Benchmark = {
  id: 'bridge',
  title: 'a status through the bridge, against the A2A call the bridge makes for it',
  async run(context) {
    const agent = await startAgent(context);
    const mcp = new McpClient({ name: 'bench', version: '0' });
    const relay = new McpClient({ name: 'bench', version: '0' });
    try {
      await mcp.connect(bridgeTransport(context, agent));
      await relay.connect(relayTransport(agent));
      const { sessionId, taskId } = await delegated(mcp);
      const client = await clientFor(await cardOf(agent.url), agent.token);
      const samples: Sample[] = [];
      for (let pair = 0; pair < WARM_UP + SAMPLES; pair += 1) {
        const direct = (): Promise<unknown> =>
          client.getTask({ tenant: '', id: taskId, historyLength: HISTORY }, EXTENSIONS);
        const calls: [keyof Sample, () => Promise<unknown>][] = [
          ['direct', direct],
          ['bridged', () => answered(mcp, 'check_task_progress_and_status', { sessionId })],
          ['relayed', () => answered(relay, 'status', { taskId })],
          ['again', direct],
          ['ping', () => mcp.ping()],
        ];
        const sample: Sample = { direct: 0, bridged: 0, relayed: 0, again: 0, ping: 0 };
        // The order changes, so that each call follows each other one equally often.
        const ordered = pair % 2 === 0 ? calls : calls.toReversed();
        for (const [name, call] of ordered) sample[name] = await took(call);
        if (pair >= WARM_UP) samples.push(sample);
      }
      return figures(samples);
    } finally {
      await Promise.all([mcp.close(), relay.close()]);
      await agent.program.stop();
    }
  },
};

/** The time of one request directly, over the bridge and over the least relay, in milliseconds. */
interface Sample {
  direct: number;
  bridged: number;
  relayed: number;
  /** A second direct request. */
  again: number;
  ping: number;
}

function figures(samples: readonly Sample[]): Figure[] {
  const added = samples.map(({ bridged, direct }) => bridged - direct);
  const least = samples.map(({ relayed, direct }) => relayed - direct);
  const noise = samples.map((sample) => sample.again - sample.direct);
  const direct = samples.map((sample) => sample.direct);
  const bridged = samples.map((sample) => sample.bridged);
  const pings = samples.map((sample) => sample.ping);
  return [
    {
      name: 'added by the bridge, median',
      ...medianOf(added),
      unit: 'ms',
      aim: { at: 'most', value: MEDIAN_AIM_MS },
    },
    {
      name: 'added by the bridge, p99',
      ...quantileOf(added, 0.99),
      unit: 'ms',
      aim: { at: 'most', value: P99_AIM_MS },
    },
    { name: 'added by the least relay, median', ...medianOf(least), unit: 'ms' },
    { name: 'added by the least relay, p99', ...quantileOf(least, 0.99), unit: 'ms' },
    {
      name: 'added by the bridge, to added by the least relay, medians',
      value: median(added) / median(least),
      unit: 'ratio',
    },
    { name: 'a second direct call, to the first (the noise), p99', ...quantileOf(noise, 0.99), unit: 'ms' },
    { name: 'through the bridge, median', ...medianOf(bridged), unit: 'ms' },
    { name: 'through the bridge, p99', ...quantileOf(bridged, 0.99), unit: 'ms' },
    { name: 'directly, median', ...medianOf(direct), unit: 'ms' },
    { name: 'directly, p99', ...quantileOf(direct, 0.99), unit: 'ms' },
    {
      name: 'through the bridge, to directly, medians',
      value: median(bridged) / median(direct),
      unit: 'ratio',
    },
    { name: 'MCP ping of the bridge, median', ...medianOf(pings), unit: 'ms' },
    { name: 'MCP ping of the bridge, p99', ...quantileOf(pings, 0.99), unit: 'ms' },
  ];
}

function bridgeTransport(
  { dist }: BenchContext,
  { url, token, stateDirectory, workspace }: Agent,
): StdioClientTransport {
  return new StdioClientTransport({
    cwd: workspace,
    command: process.execPath,
    args: [
      join(dist, 'bridge', 'main.js'),
      `--agent-url=${url}`,
      `--state-dir=${join(stateDirectory, 'bridge')}`,
    ],
    env: { PATH: process.env['PATH'] ?? '', MCP_A2A_BRIDGE_AGENT_TOKEN: token },
    stderr: 'ignore',
  });
}

function relayTransport({ url, token }: Agent): StdioClientTransport {
  return new StdioClientTransport({
    command: process.execPath,
    args: [ownProgram('relay'), url, String(HISTORY)],
    env: { PATH: process.env['PATH'] ?? '', AGENT_TOKEN: token },
    stderr: 'ignore',
  });
}

const handle = z.object({ sessionId: z.string(), taskId: z.string() });

/** Starts a session whose task waits for a decision. */
async function delegated(mcp: McpClient): Promise<z.infer<typeof handle>> {
  const { structuredContent } = await mcp.callTool({
    name: 'delegate_task_to_assistant',
    arguments: { task: 'Create test.md with hello' },
  });
  return handle.parse(structuredContent);
}

async function answered(mcp: McpClient, name: string, args: Record<string, string>): Promise<void> {
  const answer = await mcp.callTool({ name, arguments: args });
  if (answer.isError === true) throw new Error(JSON.stringify(answer.content));
}

async function took(call: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await call();
  return performance.now() - began;
}
