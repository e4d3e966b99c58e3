/** Stores the URL of this user's running A2A server in the state directory. The bridge reads the URL there. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from './atomic-file.ts';
import { parseJson } from '../text/parse-json.ts';

const serverRecordSchema = z.object({
  url: z.url({ protocol: /^https?$/ }),
  pid: z.number().int().positive(),
  version: z.string(),
  /** The start time in RFC 3339. Together with the pid, it identifies one run of the server. */
  startedAt: z.string(),
});
export type ServerRecord = z.infer<typeof serverRecordSchema>;

const recordPath = (stateDirectory: string): string => join(stateDirectory, 'server.json');

/**
 * Returns the record of the server that was started last. Returns undefined if there is no record. That server may have
 * ended, so the caller must check that it still runs.
 */
export async function readServerRecord(stateDirectory: string): Promise<ServerRecord | undefined> {
  let text: string;
  try {
    text = await readFile(recordPath(stateDirectory), 'utf8');
  } catch {
    return undefined;
  }
  return serverRecordSchema.safeParse(parseJson(text)).data;
}

export async function writeServerRecord(stateDirectory: string, record: ServerRecord): Promise<void> {
  await replaceFile(recordPath(stateDirectory), `${JSON.stringify(record, null, 2)}\n`);
}

/** Deletes the record if it still names this run of the server. */
export async function removeOwnServerRecord(stateDirectory: string, own: ServerRecord): Promise<void> {
  const found = await readServerRecord(stateDirectory);
  if (found?.pid !== own.pid || found.startedAt !== own.startedAt) return;
  await rm(recordPath(stateDirectory), { force: true });
}
