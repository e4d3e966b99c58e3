/** Runs `journal-program.ts`, bundled once, as a second process on a journal, and reads its reports from stdout. */
import { afterEach } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { bundleProgram } from '../../scripts/bundle-program.mjs';

const report = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open') }),
  z.object({ type: z.literal('appended'), taskId: z.string(), seq: z.number() }),
  z.object({
    type: z.literal('refused'),
    reason: z.string(),
    code: z.string().optional(),
    message: z.string(),
    reachable: z.boolean().optional(),
  }),
]);
export type Report = z.infer<typeof report>;

/** `hold`: own the journal; `stream`: append without end; `once`: append once; `flood`: append more than fits, then less. */
export type Role = 'hold' | 'stream' | 'once' | 'flood';

interface JournalProcessOptions {
  /** Maximum size of the process's files, in KiB. */
  fileSizeLimit?: number;
  /** The process switches to this user id before it opens the journal. */
  uid?: number;
}

interface JournalProcess {
  /** Resolves after this many reports. Rejects if the process ends before. */
  said(count: number): Promise<void>;
  /** Sends SIGKILL and waits until the process is gone and all its reports are read. */
  kill(): Promise<void>;
  /** Waits until the process exits by itself. */
  ended(): Promise<void>;
  readonly reports: readonly Report[];
}

export async function startJournalProcess(
  role: Role,
  path: string,
  { fileSizeLimit, uid }: JournalProcessOptions = {},
): Promise<JournalProcess> {
  const limit = fileSizeLimit === undefined ? '' : `ulimit -S -f ${fileSizeLimit * 2}; `;
  // POSIX counts the limit in blocks of 512 bytes. dash, the `sh` of many systems, follows POSIX.
  const program = [
    await bundleProgram('test/support/journal-program.ts', { withPackages: true }),
    role,
    path,
    ...(uid === undefined ? [] : [String(uid)]),
  ];
  const child = spawn('sh', ['-c', `${limit}exec "$0" "$@"`, process.execPath, ...program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return follow(child);
}

const running = new Set<ChildProcess>();

/** A test that fails half way must leave no process. */
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

function follow(child: ChildProcess): JournalProcess {
  if (child.stdout === null) throw new Error('the process has no stdout');
  const reports: Report[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => reports.push(report.parse(JSON.parse(line))));
  const process = { isOver: false };
  const closed = once(child, 'close').then(() => void (process.isOver = true));
  return {
    reports,
    async said(count) {
      while (reports.length < count && !process.isOver) await Promise.race([once(lines, 'line'), closed]);
      if (reports.length < count) throw new Error(`the process ended after ${JSON.stringify(reports)}`);
    },
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
    ended: () => closed,
  };
}
