/** One run of the bridge over stdio. stdout carries MCP and nothing else (B2). */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Logger } from '../shared/logging.ts';
import { packageVersion } from '../shared/version.ts';
import type { Bridge } from './bridge.ts';
import type { BridgeSettings } from './cli/settings.ts';
import { createServer } from './server.ts';
import { Withdrawals } from './withdrawals/withdrawals.ts';

/** How long the outbox has to be brought up to date at the end; what is missed, the next bridge finds out. */
const LAST_WRITES_MS = 2_000;

export interface Run {
  settings: BridgeSettings;
  /** The built a2a-server, for starting it. */
  serverScript: string;
  log: Logger;
}

/** Serves until the client closes stdin, or a signal comes. Tasks go on in either case (E4). */
export function serve({ settings, serverScript, log }: Run): void {
  const version = packageVersion();
  let opened: Promise<Bridge> | undefined;
  const bridge = (): Promise<Bridge> => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined; // The next call may find the state directory usable.
      throw error;
    });
    return opened;
  };
  const open = async (): Promise<Bridge> => {
    const { openBridge } = await import('./open-bridge.ts');
    return openBridge({ settings, env: process.env, serverScript, log, version });
  };

  const { toolPrefix: prefix, onCancel } = settings;
  const client = { withdrawals: new Withdrawals() };
  serveStdio(() => createServer({ version, prefix, log, onCancel, bridge }, client), {
    onerror: (error) => log.warn({ err: error }, 'the MCP connection'),
  });
  log.debug({ version, state: settings.stateDir }, 'serving MCP over stdio');

  let ending = false;
  const end = async (why: string): Promise<void> => {
    if (ending) return;
    ending = true;
    log.info({ why }, 'the bridge ends; tasks go on');
    setTimeout(() => process.exit(0), LAST_WRITES_MS);
    const running = await opened?.catch(() => undefined);
    await running?.delegations.settled();
    running?.close();
    process.exit(0);
  };
  process.stdin.once('end', () => void end('the client closed stdin'));
  process.stdin.once('close', () => void end('the client closed stdin'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void end(signal));
  void takeUp(settings, bridge);
}

/** B3: opens the bridge when another one has left something behind; otherwise nothing is opened before it is needed. */
async function takeUp(settings: BridgeSettings, bridge: () => Promise<Bridge>): Promise<void> {
  const { removeDrafts } = await import('./outbox/drafts.ts');
  await removeDrafts(settings.stateDir);
  const { hasOrphans } = await import('./outbox/orphans.ts');
  if (await hasOrphans(settings.stateDir)) await bridge().catch(() => undefined);
}
