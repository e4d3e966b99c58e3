/** Runs the command blocks of the documents as a reader does. The folder `test/support/documents` says how. */
import { expect, jest, test } from '@jest/globals';
import { logicalLines } from '../support/shell-blocks.ts';
import { type PlannedRun, scenes } from '../support/documents/planned-blocks.ts';
import { type ReaderHome, readerHome, stopLocalServer } from '../support/documents/reader-home.ts';
import { ABSENT_SURROUNDINGS } from '../support/documents/surroundings.ts';
import { type Answered, ReaderShell } from '../support/documents/reader-shell.ts';
import { difference } from '../support/documents/transcript.ts';

// This limit is for a busy machine. No test waits for it.
jest.setTimeout(180_000);

for (const [name, runs] of scenes()) {
  const absent = runs.flatMap(({ around = [] }) => around.flatMap((each) => ABSENT_SURROUNDINGS[each] ?? []));
  const title = `the commands of ${name} work`;
  if (absent.length > 0) test.skip(`${title}: not run: ${absent.join(', ')}`, () => undefined);
  else test(title, () => readScene(runs));
}

async function readScene(runs: readonly PlannedRun[]): Promise<void> {
  const home = await readerHome(runs);
  const shell = await ReaderShell.open(home);
  try {
    for (const each of runs) await read(each, { home, shell });
    await home.used;
  } finally {
    await shell.close();
    await stopLocalServer(home);
  }
}

interface Place {
  home: ReaderHome;
  shell: ReaderShell;
}

async function read(run: PlannedRun, place: Place): Promise<void> {
  const { block, before = '', types, goesOn, use = '', prints } = run;
  await typeLines(before, run, place);
  if (block.transcript === undefined) await typeLines(blockCommands(run), run, place);
  for (const { command, printed } of block.transcript ?? []) {
    const asks = Object.keys(types ?? {}).some((question) => printed.includes(question));
    const answered = await place.shell.run(await filled(command, place), asks ? types : undefined);
    requireCode(command, answered, run);
    const differs = difference(places(await filled(printed, place), place), places(answered.printed, place));
    if (differs) expect(differs.got).toBe(differs.expected);
  }
  if (goesOn) await place.shell.match(goesOn);
  await typeLines(use, run, place);
  if (prints) await place.shell.match(prints);
}

/** Returns the commands of the block, so that a server goes on behind the next command. */
function blockCommands({ block: { commands }, goesOn, input }: PlannedRun): string {
  if (goesOn) return `${commands} &`;
  return input === undefined ? commands : `${commands} <<< '${input}'`;
}

async function typeLines(text: string, run: PlannedRun, place: Place): Promise<void> {
  // A comment alone does nothing.
  for (const line of logicalLines(text).filter((each) => !/^\s*(#|$)/.test(each)))
    requireCode(line, await place.shell.run(await filled(line, place)), run);
}

/** @param typed the command with the examples of the document */
function requireCode(typed: string, { code, printed }: Answered, { exits = {} }: PlannedRun): void {
  const [, expected = 0] = Object.entries(exits).find(([part]) => typed.includes(part)) ?? [];
  if (code !== expected) throw new Error(`exit code ${code}, not ${expected}: ${typed}\n${printed}`);
}

/** Puts what the reader writes in the place of the examples. */
async function filled(text: string, { home: { home, replace }, shell }: Place): Promise<string> {
  let sofar = text;
  for (const [example, value] of Object.entries(replace)) {
    if (!sofar.includes(example)) continue;
    const own = typeof value === 'string' ? value.replace(/^~/, home) : (await shell.match(value))[1];
    sofar = sofar.replaceAll(example, () => own ?? '');
  }
  return sofar;
}

/** Puts the paths of the documents in the place of those of this machine. */
function places(text: string, { home: { home } }: Place): string {
  return text
    .replaceAll(home, '/home/ada')
    .replaceAll(process.execPath, '/usr/bin/node')
    .replaceAll(process.cwd(), '/opt/mcp-a2a-bridge');
}
