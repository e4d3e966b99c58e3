import type { ContentBlock, ToolCallUpdate } from '@agentclientprotocol/sdk';
import { isAbsolute, relative, resolve } from 'node:path';

export interface AcpFileDiff {
  path: string;
  /** The content before the change. Null for a new file. */
  oldText: string | null;
  newText: string;
}

/**
 * Merges an update into the tool call. An update includes only changed fields, and a list replaces the previous list
 * (ACP v1, tool calls).
 */
export function mergeToolCallUpdate(
  known: ToolCallUpdate | undefined,
  update: ToolCallUpdate,
): ToolCallUpdate {
  const said = Object.entries(update).filter(([, value]) => value !== undefined && value !== null);
  return { ...known, ...Object.fromEntries(said), toolCallId: update.toolCallId };
}

export function toolCallDiffs({ content }: ToolCallUpdate): AcpFileDiff[] {
  return (content ?? []).flatMap((item) =>
    item.type === 'diff' ? [{ path: item.path, oldText: item.oldText ?? null, newText: item.newText }] : [],
  );
}

export function toolCallText({ content }: ToolCallUpdate): string {
  return (content ?? [])
    .flatMap((item) => (item.type === 'content' ? [contentBlockText(item.content)] : []))
    .join('\n');
}

/** Returns the text of a content block. For other types, returns the URI or MIME type. */
export function contentBlockText(block: ContentBlock): string {
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

export function hasToolCallEnded({ status }: ToolCallUpdate): boolean {
  return status === 'completed' || status === 'failed';
}

/**
 * Returns a path in the workspace as a relative path, and any other path as an absolute path. Only the text is
 * compared. Symbolic links are not resolved.
 */
export function asRelativePath(workspace: string, path: string): string {
  const inside = relative(workspace, resolve(workspace, path));
  return inside.startsWith('..') || isAbsolute(inside) ? resolve(workspace, path) : inside || '.';
}
