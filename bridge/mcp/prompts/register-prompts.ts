/** Offers three MCP prompts: delegate a task, review pending actions, and resume. Clients show prompts as commands. */
import type { GetPromptResult, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { escapeHiddenCharacters } from '../../../shared/text/visible-text.ts';
import type { BridgeContext } from '../bridge-context.ts';
import type { McpServerOptions } from '../tool/tool-serving-context.ts';
import { announcedResultsText } from '../../inbox/format-announcement.ts';
import type { ToolName } from '../../tool-names/tool-names.ts';
import { delegatePromptText, resumePromptText, reviewPromptText } from './prompts.ts';
import { prefixToolNames } from '../../tool-names/tool-names.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';

const session = z
  .string()
  .max(200)
  .optional()
  .describe('The session id. Default: the only session that fits.');

type PromptOptions = Pick<McpServerOptions, 'prefix' | 'approvals' | 'bridge'>;

/**
 * Registers the prompts of the bridge.
 * @param prefix the prefix of tool names. Prompt names have no prefix, because clients add the name of the server.
 */
export function registerPrompts(server: McpServer, { prefix, approvals, bridge }: PromptOptions): void {
  const name = (tool: ToolName): string => prefixToolNames(tool, prefix);
  const said = async (
    text: string | ((opened: BridgeContext) => Promise<string>),
  ): Promise<GetPromptResult> => {
    const opened = await bridge();
    const looked = opened.inbox.refresh();
    const words = typeof text === 'string' ? text : await text(opened);
    await looked;
    const news = announcedResultsText(await opened.inbox.take(), name);
    const shown = escapeHiddenCharacters(joinTexts('\n\n', [news, words]));
    return { messages: [{ role: 'user', content: { type: 'text', text: shown } }] };
  };
  server.registerPrompt(
    'delegate',
    {
      title: 'Delegate a task',
      description: 'Hands a task to another agent.',
      argsSchema: z.object({
        task: z.string().describe('What to do.'),
        agent: z.string().max(100).optional().describe('The agent. If omitted: the first one.'),
      }),
    },
    (args) => said(delegatePromptText(args, name)),
  );
  server.registerPrompt(
    'review_pending',
    {
      title: 'Review what waits',
      description: 'Shows the actions that wait for your decision.',
      argsSchema: z.object({ session }),
    },
    (args) =>
      said(async (opened) => {
        const { reportWaitingSessions } = await import('./waiting-sessions.ts');
        return reviewPromptText(await reportWaitingSessions(opened, args.session, name), { name, approvals });
      }),
  );
  server.registerPrompt(
    'resume',
    {
      title: 'Go on with a session',
      description: 'Finds delegated tasks and their results.',
      argsSchema: z.object({ session }),
    },
    (args) => said(resumePromptText(args, name)),
  );
}
