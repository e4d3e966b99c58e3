/** Converts MCP progress notifications and log messages to lines of text. Pure. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ToolProgress } from '../../shared/protocol/tool-approval.ts';
import { ellipsize } from '../../shared/text/shortened-text.ts';
import { oneLineExcerpt } from '../../shared/text/one-line.ts';

const MAX_MESSAGE_CHARS = 16_000;
const MAX_LOGGER_NAME_CHARS = 60;

const progress = z.looseObject({
  method: z.literal('notifications/progress'),
  params: z.looseObject({
    progressToken: z.string(),
    progress: z.number(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
});

const log = z.looseObject({
  method: z.literal('notifications/message'),
  params: z.looseObject({ level: z.string(), logger: z.string().optional(), data: z.unknown() }),
});

interface McpProgress {
  token: string;
  text: string;
  /** The progress in steps, if the server sends the total number of steps. */
  steps?: ToolProgress;
}

/**
 * Parses a progress notification. Returns undefined for any other message. Keeps the line breaks of its text, because
 * the text may be partial output.
 */
export function mcpProgressOf(message: JSONRPCMessage): McpProgress | undefined {
  const { data } = progress.safeParse(message);
  if (data === undefined) return undefined;
  const { progressToken, progress: done, total, message: said } = data.params;
  const steps = total !== undefined && total > 0 ? { done, total } : undefined;
  const share = steps === undefined ? String(done) : `${Math.round((done / steps.total) * 100)}%`;
  const text = said === undefined ? share : `${cut(said)} (${share})`;
  return { token: progressToken, text, ...(steps && { steps }) };
}

/** Returns the text of a log message, or undefined for the level `debug`. */
export function mcpLogText(message: JSONRPCMessage): string | undefined {
  const { data: parsed } = log.safeParse(message);
  if (parsed === undefined || parsed.params.level === 'debug') return undefined;
  const { level, logger, data } = parsed.params;
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  const from = [
    level === 'info' ? undefined : oneLineExcerpt(level, MAX_LOGGER_NAME_CHARS),
    logger && oneLineExcerpt(logger, MAX_LOGGER_NAME_CHARS),
  ];
  const head = from.filter((part) => part !== undefined && part !== '').join(' ');
  return head === '' ? cut(text) : `${head}: ${cut(text)}`;
}

const cut = (text: string): string => ellipsize(text.trimEnd(), MAX_MESSAGE_CHARS);
