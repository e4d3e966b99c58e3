/** Lists the contents that an event names by hash. The journal stores these contents beside the events. Pure. */
import type { TaskEvent } from './events.ts';

/**
 * Returns the hashes of the files in messages and results, and of the old contents of changed files. The journal does
 * not store the new content of a changed file.
 */
export function contentHashesOfEvent(event: TaskEvent): string[] {
  if (event.type === 'message.received')
    return event.message.parts.flatMap((part) => (part.type === 'stored-file' ? [part.file.hash] : []));
  if (event.type === 'tool.finished')
    return event.outcome.type === 'ok' ? (event.outcome.files ?? []).map(({ hash }) => hash) : [];
  if (event.type === 'files.saved')
    return event.files.flatMap(({ before }) => (before.type === 'content' ? [before.hash] : []));
  return [];
}
