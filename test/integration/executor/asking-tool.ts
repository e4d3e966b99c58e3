/** A tool that asks the person questions while it runs, and returns the answers. */
import { z } from 'zod';
import { testTool } from '../../support/look-tool.ts';
import type { ToolQuestionOutcome, Tool, ToolRun } from '../../../a2a-server/tools/tool.ts';
import type { SideEffect } from '../../../shared/protocol/tool-approval.ts';
import type { Question } from '../../../shared/protocol/question.ts';

export const CALLS_ASK = { calls: [{ tool: 'inquire', input: {} }] };

interface AskingTool {
  tool: Tool;
  /** The answer to each question, or its rejection, in order. */
  heard: (ToolQuestionOutcome | 'rejected')[];
}

export function askingTool(options: {
  asks: readonly Question[];
  sideEffect?: SideEffect;
  timeoutMs?: number;
  /** Called before the questions. */
  first?: (run: ToolRun) => void;
  /** Its abort withdraws the questions. */
  signal?: AbortSignal;
  /** Called after the last answer. */
  last?: (run: ToolRun) => Promise<void>;
}): AskingTool {
  const { asks, sideEffect = 'none', timeoutMs = 60_000, first, last, signal } = options;
  const heard: AskingTool['heard'] = [];
  const tool = testTool({
    name: 'inquire',
    sideEffect,
    schema: z.strictObject({}),
    timeoutMs: () => timeoutMs,
    run: async (_input, run) => {
      first?.(run);
      const answers = await Promise.all(
        asks.map(async (question) => {
          const answer = await run.ask(question, { ...(signal && { signal }) }).catch((error: unknown) => {
            heard.push('rejected');
            throw error;
          });
          heard.push(answer);
          return answer.type === 'answered' ? JSON.stringify(answer.answer) : `declined: ${answer.reason}`;
        }),
      );
      await last?.(run);
      return { text: `Told ${answers.join(' and ')}.`, summary: 'inquired' };
    },
  });
  return { tool, heard };
}
