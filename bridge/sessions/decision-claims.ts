/**
 * Who has sent a decision on what, for agents that run a call once for each approval of it (hazard 2 of gemini-cli's): seen
 * by every bridge and command of the user, and by those that come after (E2).
 *
 * A file for each claim, `<what is asked>.<n>.json`, which is made or refused in one step and never changed. A claim is taken
 * back by whoever made it, and by nobody else: past one of a process that has ended goes the next number, which again
 * only one can make.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createFile } from '../../shared/atomic-file.ts';
import { systemErrorCode } from '../../shared/system-error.ts';
import { isRunning, ownProcessId, type ProcessId } from '../outbox/process-id.ts';

/** One asking of one call: what is asked again with something else is another. */
export interface Asking {
  /** Its URL: names are the settings' own. */
  agent: string;
  taskId: string;
  callId: string;
  shown: string;
}

export interface Claim {
  /** The message that carries the decision. */
  messageId: string;
  /** Whoever made the claim still runs, and knows what became of the message. */
  running: boolean;
}

export interface DecisionClaims {
  /**
   * Claims the asking for a message; it is the message's already when it is sent again.
   * @param past messages that are known to have come to nothing, whose senders have ended
   * @returns the claim that stands in the way @throws when it can be neither made nor read: nothing may be sent then
   */
  take(asking: Asking, messageId: string, past: ReadonlySet<string>): Promise<Claim | undefined>;
  /** The message came to nothing: another may decide. */
  release(asking: Asking, messageId: string): Promise<void>;
}

const claimFile = z.object({ messageId: z.string(), owner: z.string() });
type ClaimFile = z.infer<typeof claimFile>;

/** In milliseconds. No such agent keeps a task for as long: they forget all of them when they are started anew. */
const KEPT_MS = 30 * 24 * 60 * 60_000;
/** More than a claim is ever passed over. */
const MOST = 1_000;

export const claimsDirectory = (stateDirectory: string): string => join(stateDirectory, 'decisions');

export class ClaimsDirectory implements DecisionClaims {
  readonly #path: string;
  readonly #owner: ProcessId;

  private constructor(path: string, owner: ProcessId) {
    this.#path = path;
    this.#owner = owner;
  }

  /** @throws when the directory cannot be made */
  static async at(path: string): Promise<ClaimsDirectory> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await forgetOld(path);
    return new ClaimsDirectory(path, await ownProcessId());
  }

  async take(asking: Asking, messageId: string, past: ReadonlySet<string>): Promise<Claim | undefined> {
    const own: ClaimFile = { messageId, owner: this.#owner };
    for (let number = 0; number < MOST; number += 1) {
      const file = this.#file(asking, number);
      if (await createFile(file, JSON.stringify(own))) return undefined;
      const claim = await read(file);
      // It has been taken back since: the next who asks finds that out.
      if (claim === undefined) return { messageId: '', running: true };
      if (claim.messageId === messageId) return undefined;
      const running = await isRunning(claim.owner);
      if (running || !past.has(claim.messageId)) return { messageId: claim.messageId, running };
    }
    throw new Error(`a decision on ${asking.callId} has been claimed too often`);
  }

  async release(asking: Asking, messageId: string): Promise<void> {
    for (let number = 0; number < MOST; number += 1) {
      const file = this.#file(asking, number);
      const claim = await read(file);
      if (claim === undefined) return;
      if (claim.messageId === messageId && claim.owner === this.#owner) return rm(file, { force: true });
    }
  }

  /** Ids are the agents' own and may be anything; a file's name may not. */
  #file({ agent, taskId, callId, shown }: Asking, number: number): string {
    const what = JSON.stringify([agent, taskId, callId, shown]);
    const name = createHash('sha256').update(what).digest('hex').slice(0, 32);
    return join(this.#path, `${name}.${String(number)}.json`);
  }
}

/** @returns undefined where there is none @throws when it cannot be read, or is none of this version's */
async function read(file: string): Promise<ClaimFile | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  return claimFile.parse(JSON.parse(text));
}

async function forgetOld(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    const file = join(path, name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > KEPT_MS) await rm(file, { force: true });
  }
}
