/** A server of a test's own, a client that gives it work, and the command line of the person who watches over it. */
import { type Stage, stage, stageAgain } from '../../../support/stage.ts';
import { cli, type CliOptions, type Outcome } from './cli.ts';

export interface CliStage extends Stage {
  /** Where and as whom the commands run. */
  at: CliOptions;
  run: (...args: string[]) => Promise<Outcome>;
  /** With `--json`, parsed. */
  json: (...args: string[]) => Promise<unknown>;
}

export async function cliStage(): Promise<CliStage> {
  return withCli(await stage());
}

export async function cliStageAgain(before: CliStage): Promise<CliStage> {
  return withCli(await stageAgain(before));
}

function withCli(on: Stage): CliStage {
  const { stateDir, workspace } = on.server;
  const at: CliOptions = { home: workspace, env: { MCP_A2A_BRIDGE_HOME: stateDir } };
  const run = (...args: string[]): Promise<Outcome> => cli(args, at);
  return {
    ...on,
    at,
    run,
    json: async (...args) => {
      const parsed: unknown = JSON.parse((await run(...args, '--json')).stdout);
      return parsed;
    },
  };
}
