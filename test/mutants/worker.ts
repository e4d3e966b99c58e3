/**
 * The process that runs the tests. Each message from its parent names one test file. Node keeps the packages in memory between two files. So a file of pure
 * tests takes milliseconds.
 */
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';

export const order = z.object({ harness: z.string(), file: z.string(), limitMs: z.number() });
export type Order = z.infer<typeof order>;

export const outcome = z.object({
  /** Absent when every test passed. */
  failure: z.string().optional(),
  ms: z.number(),
  /** True if the file left a timer, a socket or an unknown promise. The next file then needs a new process. */
  isDirty: z.boolean(),
});
export type Outcome = z.infer<typeof outcome>;

const harness = z.looseObject({ runTests: z.custom<(limitMs: number) => Promise<void>>() });

let interrupt: (error: unknown) => void = () => undefined;

async function run({ harness: path, file, limitMs }: Order): Promise<void> {
  const { runTests } = harness.parse(await import(pathToFileURL(path).href));
  const interrupted = new Promise<never>((_, reject) => (interrupt = reject));
  const tests = import(pathToFileURL(file).href).then(() => runTests(limitMs));
  await Promise.race([tests, interrupted]);
}

async function answer(message: unknown): Promise<Outcome> {
  const before = process.getActiveResourcesInfo().length;
  const since = performance.now();
  const failure = await run(order.parse(message)).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error)),
  );
  const ms = performance.now() - since;
  await setImmediate();
  const isDirty = process.getActiveResourcesInfo().length > before;
  return { ms, isDirty, ...(failure !== undefined && { failure }) };
}

if (process.send !== undefined) {
  process.on('uncaughtException', (error) => interrupt(error));
  process.on('unhandledRejection', (error) => interrupt(error));
  process.on('disconnect', () => process.exit());
  process.on('message', (message) => {
    void answer(message).then((it) => process.send?.(it));
  });
}
