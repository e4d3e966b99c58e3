/** R29 over MCP: one client calls the built bridge over stdio, with the built server behind it. */
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { RawClient, textOf, type ToolResult } from '../integration/bridge/support/raw-client.ts';
import { homeDirectoryOf, launchServer, newServerHome } from '../support/server-program.ts';
import { censusTaker } from './census.ts';
import { soak, type Length, type Soaked } from './soak.ts';

const report = z.object({
  sessionId: z.string(),
  state: z.string(),
  // A status without a preview has no code of the shown action.
  pending: z.array(z.object({ callId: z.string(), shown: z.string().optional() })),
});
type Report = z.infer<typeof report>;

/** A turn is one tool call. @returns the counts, and the stderr of the bridge */
export async function soakBridge(length: Length, dist = 'dist'): Promise<Soaked & { log: string }> {
  const taker = await censusTaker();
  const home = await newServerHome();
  const directory = homeDirectoryOf(home);
  const server = launchServer({ home, program: resolve(dist, 'a2a-server', 'main.js') });
  try {
    const { url, token } = await server.ready;
    const client = await RawClient.start(
      { script: resolve(dist, 'bridge', 'main.js'), directory, remove: () => Promise.resolve() },
      {
        stateDir: join(directory, 'bridge'),
        agentUrl: url,
        token,
        args: ['--workspace', home.workspace],
        env: taker.env,
      },
    );
    try {
      let turns = 0;
      const call = (name: string, args: object): Promise<ToolResult> => {
        turns += 1;
        return client.call(name, args, { progressToken: turns });
      };
      const round = (): Promise<void> => work(call);
      const soaked = await soak({ round, turns: () => turns, census: () => taker.take() }, length);
      return { ...soaked, log: client.stderr };
    } finally {
      await client.kill();
    }
  } finally {
    await server.kill();
    await rm(directory, { recursive: true, force: true });
    await taker.remove();
  }
}

type Call = (name: string, args: object) => Promise<ToolResult>;

/** One round: approves a task, continues its session, denies a task, cancels a task, and asks for their status. */
async function work(call: Call): Promise<void> {
  const reported = async (name: string, args: object): Promise<Report> => {
    const result = await call(name, args);
    if (result.isError === true) throw new Error(textOf(result));
    return report.parse(result.structuredContent);
  };
  const delegate = (task: string, more: object = {}): Promise<Report> =>
    reported('delegate_task_to_assistant', { task, ...more });
  const decide = ({ sessionId, pending }: Report, decision: string): Promise<Report> =>
    reported('approve_or_deny_pending_action', { sessionId, ...pending[0], decision });

  const asked = await delegate('append "one line" to log.txt');
  const { sessionId } = asked;
  await reported('check_task_progress_and_status', { sessionId });
  const approved = await decide(asked, 'approve');
  const denied = await decide(await delegate('create no.txt with nothing', { sessionId }), 'deny');
  const waiting = await delegate('create never.txt with nothing');
  await call('cancel_running_task', { sessionId: waiting.sessionId });
  await reported('wait_for_task', { sessionId });
  await call('list_all_active_sessions', {});
  const unknown = await call('check_task_progress_and_status', { sessionId: 'no-such-session' });
  const states = [approved.state, denied.state, String(unknown.isError)].join();
  if (states !== 'completed,completed,true') throw new Error(`the round ended as ${states}`);
}
