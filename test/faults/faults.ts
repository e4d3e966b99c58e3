/**
 * `npm run faults`: kills programs, cuts and stalls connections, fills disks, and checks the guarantees each time.
 * The seed fixes every random choice. Exact times also depend on the machine.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CommanderError } from 'commander';
import { messageOf } from '../../shared/runtime/errors.ts';
import { runBlackboxOn, runOwnBlackbox } from './blackbox-report.ts';
import { EXIT, readCommandLine, type Options } from './command-line.ts';
import { type FaultDatabase, openFaultDatabase } from './fault-database.ts';
import { Findings } from './findings.ts';
import { runPart, type Run } from './parts.ts';
import { copyPrograms } from './programs.ts';
import type { Row } from './scenarios.ts';

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
  let scenarios: readonly Row[] | undefined;
  try {
    if (options.url === undefined) await runOwn(options, findings);
    else scenarios = await runOn(options.url, options, findings);
  } catch (error) {
    console.error(`The run could not be made: ${messageOf(error)}`);
    return EXIT.usage;
  }
  report(options, findings, scenarios);
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

async function runOn(url: string, options: Options, findings: Findings): Promise<readonly Row[]> {
  const { a2a, tokenEnv, text, restart } = options;
  const token = process.env[tokenEnv];
  const { rows } = await runBlackboxOn(
    {
      url,
      text,
      ...(a2a !== undefined && { version: a2a }),
      ...(token !== undefined && { token }),
      ...(restart !== undefined && {
        restart: async () => void (await promisify(execFile)('/bin/sh', ['-c', restart])),
      }),
    },
    findings,
  );
  return rows;
}

function report({ json }: Options, findings: Findings, scenarios: readonly Row[] | undefined): void {
  const { seed, counts, violations } = findings;
  if (json) {
    const told = { seed, counts: Object.fromEntries(counts), violations, scenarios };
    console.log(JSON.stringify(told));
    return;
  }
  console.log('');
  for (const [what, count] of [...counts].toSorted(([a], [b]) => a.localeCompare(b)))
    console.log(`${String(count).padStart(9)}  ${what}`);
  console.log(`${String(violations.length).padStart(9)}  violations (seed ${seed})`);
}
