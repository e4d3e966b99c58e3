/** The command `page`: prints the URL of the local server's approval page. */
import { pageAddress } from '../../../shared/net/page-address.ts';
import { connectToAgent } from '../../agents/connection.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { findServer } from '../../local-server/find-or-start-server.ts';
import type { CommonOptions, CommandRun } from '../context/run-command.ts';

/**
 * Prints a one-time link that signs a browser in. Without a terminal, prints only the URL of the page: a model may run
 * the command then, and a model must not be able to decide.
 * @throws ProductError CONFIGURATION if the server does not start
 */
export async function page({
  options,
  terminal,
  settings,
  places,
}: CommandRun<CommonOptions>): Promise<void> {
  const server = await findServer({
    stateDirectory: settings.stateDir,
    script: places.serverScript,
    autoStart: true,
    configFile: settings.configFile,
  });
  if (!terminal.interactive) {
    const url = pageAddress(server.url);
    terminal.say(options.json === true ? JSON.stringify({ url }) : url);
    terminal.complain('To sign a browser in, run "mcp-a2a-bridge page" at a terminal.');
    return;
  }
  const link = await (await connectToAgent(server)).pageLink({});
  if (link === null)
    throw new ProductError(
      'AGENT_ERROR',
      'The local server makes no link. It may be of an older version: run "mcp-a2a-bridge server stop", then this again.',
    );
  if (options.json === true) {
    terminal.say(JSON.stringify(link));
    return;
  }
  terminal.say(link.url);
  terminal.say('Open it in your browser within ten minutes. It works once; who opens it can decide for you.');
}
