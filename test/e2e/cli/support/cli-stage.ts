/** Starts a test server, a client that sends tasks to it, and the command line of a person who watches the tasks. */
import { actionOf } from '../../../support/a2a-message.ts';
import { type SharedStage, sharedLocalStage } from '../../../support/shared-stage.ts';
import { type Stage, stage, stageAgain } from '../../../support/stage.ts';
import { cli, type CliOptions, type Outcome } from './cli.ts';

interface CommandLine {
  /** The command line's options: they name the test's server and its principal. */
  at: CliOptions;
  run: (...args: string[]) => Promise<Outcome>;
  /** Returns the code of the session's pending action, as the agent shows it. */
  code: (sessionId: string) => Promise<string>;
  /** Waits until the session's task has ended. For tests that need no more of the command `watch`. */
  taskEnd: (sessionId: string) => Promise<void>;
  /** Runs a command with `--json`. Returns its parsed output. */
  json: (...args: string[]) => Promise<unknown>;
}

export type CliStage = Stage & CommandLine;
export type SharedCliStage = SharedStage & CommandLine;

export async function cliStage(): Promise<CliStage> {
  return cliStageOf(await stage());
}

/** For tests that neither end the server nor look at all of its tasks. They share the server of the file. */
export async function sharedCliStage(): Promise<SharedCliStage> {
  return cliStageOf(await sharedLocalStage());
}

export async function cliStageAgain(before: CliStage): Promise<CliStage> {
  return cliStageOf(await stageAgain(before));
}

/** Returns the first code in the output of the command line. */
export function codeShownIn(screen: string): string {
  const [, code] = /, code ([0-9a-f]{8})/.exec(screen) ?? [];
  if (code === undefined) throw new Error(`no code is shown: ${screen}`);
  return code;
}

export function cliStageOf<On extends SharedStage>(on: On): On & CommandLine {
  const { stateDir, workspace } = on.server;
  const at: CliOptions = { home: workspace, env: { MCP_A2A_BRIDGE_HOME: stateDir } };
  const run = (...args: string[]): Promise<Outcome> => cli(args, at);
  return {
    ...on,
    at,
    run,
    code: async (sessionId) =>
      actionOf((await on.peer.list({ contextId: sessionId })).flatMap(({ pending }) => pending)).shown,
    taskEnd: async (sessionId) => {
      const [task] = await on.peer.list({ contextId: sessionId });
      if (task === undefined) throw new Error(`${sessionId} has no task`);
      const stream = await on.peer.follow(task.taskId, 0);
      await stream.until(({ state }) => state === 'COMPLETED');
      stream.connection.destroy();
    },
    json: async (...args) => {
      const parsed: unknown = JSON.parse((await run(...args, '--json')).stdout);
      return parsed;
    },
  };
}
