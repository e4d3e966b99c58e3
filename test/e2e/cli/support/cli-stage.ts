/** A server of a test's own, a client that gives it work, and the command line of the person who watches over it. */
import { actionOf } from '../../../support/a2a-message.ts';
import { type Stage, stage, stageAgain } from '../../../support/stage.ts';
import { cli, type CliOptions, type Outcome } from './cli.ts';

export interface CliStage extends Stage {
  /** Where and as whom the commands run. */
  at: CliOptions;
  run: (...args: string[]) => Promise<Outcome>;
  /** The code of the action that waits in a session, as the agent shows it. */
  code: (sessionId: string) => Promise<string>;
  /** With `--json`, parsed. */
  json: (...args: string[]) => Promise<unknown>;
}

export async function cliStage(): Promise<CliStage> {
  return withCli(await stage());
}

export async function cliStageAgain(before: CliStage): Promise<CliStage> {
  return withCli(await stageAgain(before));
}

/** The first code in what the command line shows. */
export function codeShownIn(screen: string): string {
  const [, code] = /, code ([0-9a-f]{8})/.exec(screen) ?? [];
  if (code === undefined) throw new Error(`no code is shown: ${screen}`);
  return code;
}

function withCli(on: Stage): CliStage {
  const { stateDir, workspace } = on.server;
  const at: CliOptions = { home: workspace, env: { MCP_A2A_BRIDGE_HOME: stateDir } };
  const run = (...args: string[]): Promise<Outcome> => cli(args, at);
  return {
    ...on,
    at,
    run,
    code: async (sessionId) =>
      actionOf((await on.peer.list({ contextId: sessionId })).flatMap(({ pending }) => pending)).shown,
    json: async (...args) => {
      const parsed: unknown = JSON.parse((await run(...args, '--json')).stdout);
      return parsed;
    },
  };
}
