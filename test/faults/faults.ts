/**
 * `npm run faults`: everything that can be killed or cut is, and what is promised is checked each time. Every choice
 * follows from the seed; of moments in time the machine has a say too.
 */
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import { Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { messageOf } from '../../shared/errors.ts';
import { Findings } from './findings.ts';
import { PARTS, runBlackboxOn, runOwnBlackbox, runPart, type Part, type Run } from './parts.ts';
import { copyPrograms } from './programs.ts';
import { OFFLINE_TEXT } from './subjects.ts';

const cliOptions = z.object({
  seed: z.number(),
  rounds: z.number(),
  from: z.number(),
  minutes: z.number(),
  lanes: z.number(),
  only: z.array(z.enum(PARTS)),
  url: z.string().optional(),
  tokenEnv: z.string(),
  text: z.string(),
  restart: z.string().optional(),
  json: z.boolean(),
});
type Options = z.infer<typeof cliOptions>;

const options = cliOptions.parse(command().parse().opts());
const findings = new Findings(options.seed, (line) =>
  options.json ? console.error(line) : console.log(line),
);
findings.say(`seed ${options.seed}`);
try {
  if (options.url === undefined) await runOwn(options);
  else await runOn(options.url, options);
} catch (error) {
  findings.violation({ part: options.only[0] ?? 'kills', round: options.from, what: messageOf(error) });
}
report();
process.exitCode = findings.violations.length === 0 ? 0 : 1;

async function runOwn({ only, from, rounds, lanes, minutes }: Options): Promise<void> {
  const programs = await copyPrograms();
  try {
    for (const part of only) {
      const until = performance.now() + minutes * 60_000;
      const run: Run = { programs, findings, from, rounds, lanes, until };
      await (part === 'blackbox' ? runOwnBlackbox(run) : runPart(part, run));
    }
  } finally {
    await programs.remove();
  }
}

async function runOn(url: string, { tokenEnv, text, restart }: Options): Promise<void> {
  const token = process.env[tokenEnv];
  await runBlackboxOn(
    {
      url,
      text,
      ...(token !== undefined && { token }),
      ...(restart !== undefined && {
        restart: async () => void (await promisify(execFile)('/bin/sh', ['-c', restart])),
      }),
    },
    findings,
  );
}

function report(): void {
  const { seed, counts, violations } = findings;
  if (options.json) {
    console.log(JSON.stringify({ seed, counts: Object.fromEntries(counts), violations }));
    return;
  }
  console.log('');
  for (const [what, count] of [...counts].toSorted(([a], [b]) => a.localeCompare(b)))
    console.log(`${String(count).padStart(9)}  ${what}`);
  console.log(`${String(violations.length).padStart(9)}  violations (seed ${seed})`);
}

function command(): Command {
  return new Command('faults')
    .description('Kills and cuts everything that can be killed or cut, and checks what is promised.')
    .option(
      '--seed <n>',
      'what every random choice follows from (default: a new one)',
      whole,
      randomInt(2 ** 31),
    )
    .option('--rounds <n>', 'rounds of each part', whole, 4)
    .option('--from <n>', 'the first round', whole, 1)
    .option('--minutes <n>', 'no round of a part begins later than this', whole, 10)
    .option('--lanes <n>', 'rounds side by side', whole, 2)
    .option('--only <parts>', `some of ${PARTS.join(', ')}`, parts, [...PARTS])
    .option('--url <url>', 'try another A2A 1.0 server, as a black box')
    .option('--token-env <name>', 'the variable that holds its bearer token', 'A2A_TOKEN')
    .option('--text <text>', 'what it is asked to do: a second of work that needs no decision', OFFLINE_TEXT)
    .option(
      '--restart <command>',
      'a shell command that kills it, starts it again and waits until it is ready',
    )
    .option('--json', 'the result as JSON on stdout, all else on stderr', false);
}

function whole(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0) throw new InvalidArgumentError('It is no whole number.');
  return number;
}

function parts(text: string): Part[] {
  const chosen = z.array(z.enum(PARTS)).safeParse(text.split(','));
  if (!chosen.success) throw new InvalidArgumentError(`The parts are ${PARTS.join(', ')}.`);
  return chosen.data;
}
