/** Adds sentences about the agents to the reply of a tool: to its text and to its structured result. Pure. */
import type { ToolReply } from './tool-result.ts';

export function addNotices<Output extends object>(
  reply: ToolReply<Output>,
  notices: readonly string[],
): ToolReply<Output> {
  if (notices.length === 0) return reply;
  const structured = { ...reply.structured, notices };
  return { ...reply, structured, text: `${notices.join('\n')}\n\n${reply.text}` };
}
