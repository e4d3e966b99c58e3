/** Prompts, which clients show as commands: delegate, review what waits, go on. */
import type { GetPromptResult, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { prefixed } from '../tools/tool.ts';
import { delegatePrompt, resumePrompt, reviewPrompt } from './prompts.ts';

const session = z.string().max(200).optional().describe('The session; the one that fits when left out.');

/** @param prefix before the tools' names, not before the prompts': clients set those apart by the server's name */
export function offerPrompts(server: McpServer, { prefix }: { prefix: string }): void {
  const name = (tool: string): string => prefixed(tool, prefix);
  server.registerPrompt(
    'delegate',
    {
      title: 'Delegate a task',
      description: 'Hands a task to another agent.',
      argsSchema: z.object({
        task: z.string().describe('What to do.'),
        agent: z.string().max(100).optional().describe('Which agent; the first one when left out.'),
      }),
    },
    (args) => said(delegatePrompt(args, name)),
  );
  server.registerPrompt(
    'review_pending',
    {
      title: 'Review what waits',
      description: 'Shows the actions that wait for your decision.',
      argsSchema: z.object({ session }),
    },
    (args) => said(reviewPrompt(args, name)),
  );
  server.registerPrompt(
    'resume',
    {
      title: 'Go on with a session',
      description: 'Finds delegated work again, and what came of it.',
      argsSchema: z.object({ session }),
    },
    (args) => said(resumePrompt(args, name)),
  );
}

function said(text: string): GetPromptResult {
  return { messages: [{ role: 'user', content: { type: 'text', text } }] };
}
