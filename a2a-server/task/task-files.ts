/** Lists the files of a task's messages and of the results of its tool calls. Pure. */
import type { UserMessage } from './events.ts';
import type { Call, Snapshot } from './snapshot.ts';
import type { StoredFile } from './stored-file.ts';

/** `callId` is the call whose result contains the file. Absent for a file of a message. */
interface TaskFile extends StoredFile {
  callId?: string;
}

/** Returns the files of messages, then the files of results. The same content may appear more than once. */
export function filesOfTask({ exchanges, queued, calls }: Snapshot): TaskFile[] {
  const messages = exchanges.flatMap((item) => (item.type === 'message' ? [item.message] : []));
  return [...[...messages, ...queued].flatMap(messageFiles), ...Object.values(calls).flatMap(resultFiles)];
}

export function messageFiles({ parts }: UserMessage): StoredFile[] {
  return parts.flatMap((part) => (part.type === 'stored-file' ? [part.file] : []));
}

function resultFiles({ callId, state }: Call): TaskFile[] {
  if (state.type !== 'settled' || state.result.type !== 'ran') return [];
  const { outcome } = state.result;
  return outcome.type === 'ok' ? (outcome.files ?? []).map((file) => ({ ...file, callId })) : [];
}
