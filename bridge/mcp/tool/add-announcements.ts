/** Adds sentences to the reply of a tool: before its text, and to its structured result. Pure. */
import type { NameOfTool } from '../../tool-names/tool-names.ts';
import { type AnnouncedResults, announcedResultsText } from '../../inbox/format-announcement.ts';
import type { ToolReply } from './tool-result.ts';

/** Adds sentences about the agents. */
export function addNotices<Output extends object>(
  reply: ToolReply<Output>,
  notices: readonly string[],
): ToolReply<Output> {
  return notices.length === 0 ? reply : withTextBefore(reply, notices.join('\n'), { notices });
}

/** Adds announcements of uncollected results. */
export function announceResults<Output extends object>(
  reply: ToolReply<Output>,
  announcement: AnnouncedResults,
  name: NameOfTool,
): ToolReply<Output> {
  const { results } = announcement;
  if (results.length === 0) return reply;
  return withTextBefore(reply, announcedResultsText(announcement, name), { waitingResults: results });
}

function withTextBefore<Output extends object>(
  reply: ToolReply<Output>,
  text: string,
  added: Readonly<Record<string, unknown>>,
): ToolReply<Output> {
  return { ...reply, structured: { ...reply.structured, ...added }, text: `${text}\n\n${reply.text}` };
}
