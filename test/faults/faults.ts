/**
 * `npm run faults`: kills programs, cuts and stalls connections, fills disks, and checks the guarantees each time.
 * The seed fixes every random choice. Exact times also depend on the machine.
 */
import { CommanderError } from 'commander';
import { stat } from 'node:fs';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import { runOwnBlackbox } from './blackbox.ts';
import { EXIT, readCommandLine, type Options } from './command-line.ts';
import { type FaultDatabase, openFaultDatabase } from './fault-database.ts';
import { Findings } from './findings.ts';
import { runPart, type Run } from './parts.ts';
import { copyPrograms } from './programs.ts';

/**
 * Linux can lose a wake-up of Node's thread pool (glibc bug 25847). A file operation then stays open until the next one
 * wakes the pool. The programs under test have a next one; this harness may wait for the open one alone.
 */
setInterval(() => stat('.', () => undefined), 1_000).unref();

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = readCommandLine(args);
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.held : EXIT.usage;
    throw error;
  }
  const findings = new Findings(options.seed, (line) =>
    options.json ? console.error(line) : console.log(line),
  );
  findings.say(`seed ${options.seed}`);
  try {
    await runOwn(options, findings);
  } catch (error) {
    console.error(`The run could not be made: ${errorMessageOf(error)}`);
    return EXIT.usage;
  }
  report(options, findings);
  return findings.violations.length === 0 ? EXIT.held : EXIT.broken;
}

async function runOwn(
  { only, from, rounds, lanes, minutes, database: url }: Options,
  findings: Findings,
): Promise<void> {
  const programs = await copyPrograms();
  let opened: Promise<FaultDatabase> | undefined;
  const database = (): Promise<FaultDatabase> => (opened ??= openFaultDatabase(url));
  try {
    for (const part of only) {
      const until = performance.now() + minutes * 60_000;
      const run: Run = { programs, database, findings, from, rounds, lanes, until };
      await (part === 'blackbox' ? runOwnBlackbox(run) : runPart(part, run));
    }
  } finally {
    await (await opened)?.close();
    await programs.remove();
  }
}

function report({ json }: Options, findings: Findings): void {
  const { seed, counts, violations } = findings;
  if (json) {
    const told = { seed, counts: Object.fromEntries(counts), violations };
    console.log(JSON.stringify(told));
    return;
  }
  console.log('');
  for (const [what, count] of [...counts].toSorted(([a], [b]) => a.localeCompare(b)))
    console.log(`${String(count).padStart(9)}  ${what}`);
  console.log(`${String(violations.length).padStart(9)}  violations (seed ${seed})`);
}
