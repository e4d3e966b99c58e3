/**
 * What has been posted, on disk: a small file for each asking, seen by all bridges of the user and by the next one, so that
 * each is posted by one of them. A bridge that is killed while it posts leaves its mark, and the next one posts again, under
 * the same `webhook-id`.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createFile, replaceFile } from '../../shared/atomic-file.ts';
import { isRunning, ownProcessId, type ProcessId } from '../outbox/process-id.ts';

const mark = z.object({
  agent: z.string(),
  sessionId: z.string(),
  taskId: z.string(),
  callId: z.string(),
  shown: z.string(),
  /** `asking`: it is being posted; `asked`: the receiver has it; `over`: it does not wait any more. */
  state: z.enum(['asking', 'asked', 'over']),
  owner: z.string(),
});
type Mark = z.infer<typeof mark>;
export type MarkState = Mark['state'];
/** What a mark is about. */
export type Marked = Omit<Mark, 'state' | 'owner'>;

/** In milliseconds. Nothing is asked for as long. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

export const marksDirectory = (stateDirectory: string): string => join(stateDirectory, 'webhook');

export class Marks {
  readonly #path: string;
  readonly #owner: ProcessId;

  private constructor(path: string, owner: ProcessId) {
    this.#path = path;
    this.#owner = owner;
  }

  /** @throws when the directory cannot be made */
  static async at(path: string): Promise<Marks> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const marks = new Marks(path, await ownProcessId());
    await marks.#forgetOld();
    return marks;
  }

  /** @returns whether it is this bridge's to post, now or after one that has ended before it was done */
  async take(about: Marked): Promise<boolean> {
    const file = this.#file(about);
    const own = JSON.stringify({ ...about, state: 'asking', owner: this.#owner } satisfies Mark);
    if (await createFile(file, own)) return true;
    const found = await read(file);
    if (found?.state !== 'asking' || (await isRunning(found.owner))) return false;
    await replaceFile(file, own);
    return true;
  }

  async set(about: Marked, state: MarkState): Promise<void> {
    await replaceFile(
      this.#file(about),
      JSON.stringify({ ...about, state, owner: this.#owner } satisfies Mark),
    );
  }

  /** What bridges that have ended have begun and not seen the end of. What the receiver has is this bridge's from here on. */
  async takeOver(): Promise<readonly (Marked & { state: MarkState })[]> {
    const left: Mark[] = [];
    for (const name of await readdir(this.#path)) {
      const found = await read(join(this.#path, name));
      if (found === undefined || found.state === 'over' || (await isRunning(found.owner))) continue;
      if (found.state === 'asked') await this.set(found, 'asked');
      left.push(found);
    }
    return left;
  }

  #file({ agent, taskId, callId, shown }: Marked): string {
    const what = JSON.stringify([agent, taskId, callId, shown]);
    return join(this.#path, `${createHash('sha256').update(what).digest('hex').slice(0, 32)}.json`);
  }

  async #forgetOld(): Promise<void> {
    for (const name of await readdir(this.#path)) {
      const file = join(this.#path, name);
      const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }));
      if (Date.now() - mtimeMs > KEPT_MS) await rm(file, { force: true });
    }
  }
}

/** Undefined for one that has gone, or is none of this version's. */
async function read(file: string): Promise<Mark | undefined> {
  try {
    return mark.safeParse(JSON.parse(await readFile(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}
