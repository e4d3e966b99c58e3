/** D2: compares what a tool call would change now with what the person saw. Pure. */
import type { Preview } from '../../shared/protocol/tool-approval.ts';
import { fieldOf } from '../../shared/runtime/record.ts';
import type { TaskEvent } from '../task/events.ts';
import type { Call } from '../task/snapshot.ts';
import type { PreviewWithBasis } from './tool.ts';

export type OutdatedEvent = Extract<TaskEvent, { type: 'tool.outdated' }>;

/** True if something outside the call's input can change the call's effect, for example the content of a file. */
export function mayBecomeOutdated({ basis, preview }: PreviewWithBasis): boolean {
  return basis !== null || preview.type === 'command';
}

/**
 * Returns the event that asks the person about the call again. Returns undefined if the person saw the current content
 * and the current path. The path is compared too, because a link may now lead to another file with the same content.
 */
export function outdatedEvent(
  call: Pick<Call, 'callId' | 'tool' | 'title' | 'preview' | 'basis'>,
  now: PreviewWithBasis,
): OutdatedEvent | undefined {
  const { callId, tool, title } = call;
  const { preview, basis } = now;
  const place = placeOf(preview);
  if (call.basis === basis && placeOf(call.preview) === place) return undefined;
  return {
    type: 'tool.outdated',
    callId,
    tool,
    title,
    preview,
    basis,
    ...(place !== undefined && { place }),
  };
}

/** Returns the path of the file or the working directory that a preview shows. Links in the path are resolved. */
function placeOf(preview: Preview): string | undefined {
  switch (preview.type) {
    case 'diff':
      return preview.path;
    case 'command':
      return preview.cwd;
    case 'json': {
      // `to` is the new path in a preview of `move-file`. The old path is not needed, because the basis covers it. A
      // tool of an MCP server may have a `to` of any type.
      const to = fieldOf(preview.value, 'to');
      return typeof to === 'string' ? to : undefined;
    }
    case 'url':
    case 'question':
      return undefined;
  }
}
