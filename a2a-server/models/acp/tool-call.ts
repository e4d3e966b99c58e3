/** What an ACP agent tells of a tool call, piece by piece. */
import type { ContentBlock, ToolCallUpdate } from '@agentclientprotocol/sdk';

export interface FileDiff {
  path: string;
  /** Null for a new file. */
  oldText: string | null;
  newText: string;
}

/** ACP v1, tool calls: in an update only what has changed is included, and a collection replaces the one before. */
export function updated(known: ToolCallUpdate | undefined, update: ToolCallUpdate): ToolCallUpdate {
  const said = Object.entries(update).filter(([, value]) => value !== undefined && value !== null);
  return { ...known, ...Object.fromEntries(said), toolCallId: update.toolCallId };
}

export function diffsOf({ content }: ToolCallUpdate): FileDiff[] {
  return (content ?? []).flatMap((item) =>
    item.type === 'diff' ? [{ path: item.path, oldText: item.oldText ?? null, newText: item.newText }] : [],
  );
}

/** The words among its content. */
export function textOf({ content }: ToolCallUpdate): string {
  return (content ?? [])
    .flatMap((item) => (item.type === 'content' ? [blockText(item.content)] : []))
    .join('\n');
}

/** A content block as text; what is no text is named. */
export function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return block.uri;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[${block.resource.uri}]`;
    case 'image':
    case 'audio':
      return `[${block.type}, ${block.mimeType}]`;
  }
}

/** Whether it has come to its end. */
export function hasEnded({ status }: ToolCallUpdate): boolean {
  return status === 'completed' || status === 'failed';
}
