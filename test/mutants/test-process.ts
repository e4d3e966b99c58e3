/**
 * Runs bundled test files in one process. Starts a new process after a file that hangs or leaves a timer or socket.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { outcome, type Order } from './worker.ts';

/**
 * Node never unloads a module, so the memory grows with each file. After this number of files, a new process starts.
 */
const FILES_PER_PROCESS = 300;

export type Result = { type: 'passed'; ms: number } | { type: 'failed'; failure: string };

export class TestProcess {
  readonly #program: string;
  #child: ChildProcess | undefined;
  #files = 0;

  /** @param program the bundle of `worker.ts` */
  constructor(program: string) {
    this.#program = program;
  }

  /** Runs one file. @param limitMs the time for the whole file; after it, the process is killed */
  async run(order: Order, limitMs: number): Promise<Result> {
    this.#child ??= fork(this.#program, {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: { ...process.env, RUNS: process.env['RUNS'] ?? '0.1' },
    });
    this.#files += 1;
    const answered = await this.#answer(this.#child, order, limitMs);
    if (answered === undefined || answered.isDirty || this.#files >= FILES_PER_PROCESS) this.end();
    if (answered === undefined)
      return { type: 'failed', failure: 'no answer: it hangs, or its process ended' };
    const { failure, ms } = answered;
    return failure === undefined ? { type: 'passed', ms } : { type: 'failed', failure };
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
    this.#files = 0;
  }

  /** @returns undefined when the process does not answer in time or exits. */
  #answer(child: ChildProcess, order: Order, limitMs: number) {
    return new Promise<ReturnType<typeof outcome.parse> | undefined>((done) => {
      const timer = setTimeout(() => finish(), limitMs);
      const onExit = (): void => finish();
      const onMessage = (message: unknown): void => finish(message);
      const finish = (message?: unknown): void => {
        clearTimeout(timer);
        child.off('message', onMessage).off('exit', onExit);
        done(outcome.safeParse(message).data);
      };
      child.once('message', onMessage).once('exit', onExit);
      child.send(order);
    });
  }
}
