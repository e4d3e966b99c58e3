/**
 * The command `page`: prints the URL of an agent's approval page. If the person names no agent, the default agent is
 * used.
 */
import { pageAddress } from '../../../shared/net/page-address.ts';
import { connectToAgent } from '../../agents/connection.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { findOrStartServer } from '../../local-server/find-or-start-server.ts';
import { LOCAL_AGENT } from '../../settings/agent-settings.ts';
import { findAgentSettings, createAgentRegistry } from '../../startup/configured-agents.ts';
import type { CommandRun } from '../context/run-command.ts';
import type { PageLink } from '../../agents/a2a-server-requests.ts';

interface PageOptions {
  agent?: string;
}

/** A page for approvals: its address, and how to get a link that signs a browser in. */
interface ApprovalPage {
  url: string;
  link: () => Promise<PageLink | null>;
  /** The next step if the agent makes no link. */
  advice: string;
}

/**
 * Prints a one-time link that signs a browser in. Without a terminal, prints only the URL of the page: a model may run
 * the command then, and a model must not be able to decide.
 * @throws ProductError CONFIGURATION if the local server does not start; UNKNOWN_AGENT; AGENT_ERROR without a page
 */
export async function pageCommand(run: CommandRun<PageOptions>): Promise<void> {
  const { terminal } = run;
  const { url, link: makeLink, advice } = await pageOf(run);
  if (!terminal.interactive) {
    terminal.json({ url });
    terminal.say(url);
    terminal.warn('To sign a browser in, run "mcp-a2a-bridge page" at a terminal.');
    return;
  }
  const link = await makeLink();
  if (link === null) throw new ProductError('AGENT_ERROR', advice);
  terminal.json(link);
  terminal.say(link.url);
  terminal.explain(
    'Open it in your browser within ten minutes. It works once; who opens it can decide for you.',
  );
}

async function pageOf({ options, settings, places, env }: CommandRun<PageOptions>): Promise<ApprovalPage> {
  const agent = createAgentRegistry(settings, env, places.serverScript).pick(options.agent);
  if (agent.name === LOCAL_AGENT && findAgentSettings(settings, LOCAL_AGENT) === undefined) {
    const server = await findOrStartServer({ ...settings, script: places.serverScript });
    return {
      url: pageAddress(server.url),
      link: async () => (await connectToAgent(server)).pageLink({}),
      advice:
        'The local server makes no link. It may be of an older version: run "mcp-a2a-bridge server stop", then this again.',
    };
  }
  const url = findAgentSettings(settings, agent.name)?.url ?? settings.agentUrl ?? '';
  return {
    url: pageAddress(url),
    link: () => agent.ask((connection) => connection.pageLink({})),
    advice: `Agent "${agent.name}" has no approval page, or gives this token no link to it.`,
  };
}
