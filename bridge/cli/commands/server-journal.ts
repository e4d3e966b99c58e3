/**
 * The commands `server backup|verify|restore`: run the same command of the local a2a-server, because that program owns
 * the journal.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import type { CommandRun } from '../context/run-command.ts';
import { serverSettingsFlags, type ServerSettingsLocation } from '../context/server-program.ts';

interface ServerCommandOptions {
  json?: boolean;
  acceptLoss?: boolean;
  replace?: boolean;
}

/** Runs a command of a2a-server, which prints to this terminal. Returns its exit code. */
export async function serverJournalCommand(
  run: CommandRun<ServerCommandOptions>,
  command: string,
  args: readonly string[],
): Promise<number> {
  const given = journalCommandArguments(run, command, args);
  const child = spawn(process.execPath, [run.places.serverScript, ...given], { stdio: 'inherit' });
  await once(child, 'exit');
  return child.exitCode ?? EXIT_FAILURE;
}

/** Returns the command line of a2a-server for this command. */
export function journalCommandArguments(
  { options, settings }: { options: ServerCommandOptions; settings: ServerSettingsLocation },
  command: string,
  args: readonly string[],
): string[] {
  return [
    command,
    ...(options.json === true ? ['--json'] : []),
    ...(options.acceptLoss === true ? ['--accept-loss'] : []),
    ...(options.replace === true ? ['--replace'] : []),
    ...serverSettingsFlags(settings),
    '--',
    ...args,
  ];
}
