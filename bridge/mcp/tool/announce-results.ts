/** Adds announcements of uncollected results to the reply of a tool: to its text and to its structured result. Pure. */
import type { NameOfTool } from '../../tool-names/tool-names.ts';
import type { ToolReply } from './tool-result.ts';
import { type AnnouncedResults, announcedResultsText } from '../../inbox/format-announcement.ts';

/** @param name returns the name of a tool as this client sees it */
export function announceResults<Output extends object>(
  reply: ToolReply<Output>,
  announcement: AnnouncedResults,
  name: NameOfTool,
): ToolReply<Output> {
  if (announcement.results.length === 0) return reply;
  const structured = { ...reply.structured, waitingResults: announcement.results };
  return { ...reply, structured, text: `${announcedResultsText(announcement, name)}\n\n${reply.text}` };
}
