/** `page`: where a person decides in a browser what waits at the local server. */
import { obtainToken } from '../../../shared/token-file.ts';
import { findServer } from '../../local-server/find-server.ts';
import type { CommonOptions, Run } from '../run.ts';

/**
 * Says the address, with the token in its fragment: no browser sends that anywhere, and the page takes it out of the address.
 * @throws ProductError CONFIGURATION when the server does not start
 */
export async function page({ options, terminal, settings, places }: Run<CommonOptions>): Promise<void> {
  const { stateDir: stateDirectory, configFile } = settings;
  const server = await findServer({
    stateDirectory,
    script: places.serverScript,
    autoStart: true,
    configFile,
  });
  const url = `${server.url}/#token=${encodeURIComponent(await obtainToken(stateDirectory))}`;
  if (options.json === true) terminal.say(JSON.stringify({ url }));
  else {
    terminal.say(url);
    if (terminal.interactive)
      terminal.say('Open it in a browser of yours. Whoever has the address can decide: it holds the token.');
  }
}
