/** D2: compares what a tool call would change now with what the person saw. Pure. */
import type { Preview } from '../../shared/protocol/tool-approval.ts';
import { fieldOf } from '../../shared/runtime/record.ts';
import type { TaskEvent } from '../task/events.ts';
import type { Call } from '../task/snapshot.ts';
import type { PreviewWithBasis } from './tool.ts';

export type OutdatedEvent = Extract<TaskEvent, { type: 'tool.outdated' }>;

/** False if nothing outside the input of the call can change what it does. */
export function mayBecomeOutdated({ basis, preview }: PreviewWithBasis): boolean {
  return basis !== null || preview.type === 'command';
}

/**
 * Returns the event that asks about the call again, if the person saw another content, or another place. A link on the
 * path may lead to another place now, and its file may have the same content.
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

/** Returns the place that a preview names after links are resolved. */
function placeOf(preview: Preview): string | undefined {
  switch (preview.type) {
    case 'diff':
      return preview.path;
    case 'command':
      return preview.cwd;
    case 'json': {
      // The new name of a file that is moved. The basis covers its old name. An MCP tool may have any value here.
      const to = fieldOf(preview.value, 'to');
      return typeof to === 'string' ? to : undefined;
    }
    case 'url':
    case 'question':
      return undefined;
  }
}
