/**
 * The commands `server backup|verify|restore`: run the same command of the local a2a-server, because that program owns
 * the journal.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import type { CommonCommandOptions, CommandRun } from '../context/run-command.ts';

interface ServerCommandOptions extends CommonCommandOptions {
  acceptLoss?: boolean;
  replace?: boolean;
}

/** Runs a command of a2a-server, which prints to this terminal. Returns its exit code. */
export async function serverJournalCommand(
  { options, settings, places }: CommandRun<ServerCommandOptions>,
  command: string,
  args: readonly string[],
): Promise<number> {
  const flags = [
    ...(options.json === true ? ['--json'] : []),
    ...(options.acceptLoss === true ? ['--accept-loss'] : []),
    ...(options.replace === true ? ['--replace'] : []),
    '--state-dir',
    settings.stateDir,
  ];
  const child = spawn(process.execPath, [places.serverScript, command, ...flags, '--', ...args], {
    stdio: 'inherit',
  });
  await once(child, 'exit');
  return child.exitCode ?? EXIT_FAILURE;
}
