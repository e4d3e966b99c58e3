/** The command line of `npm run faults`. */
import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { PARTS, type Part } from './parts.ts';

/** Exit codes: every check passed, a check failed, or the run was impossible. */
export const EXIT = { held: 0, broken: 1, usage: 2 } as const;

const options = z.object({
  seed: z.number(),
  rounds: z.number(),
  from: z.number(),
  minutes: z.number(),
  lanes: z.number(),
  only: z.array(z.enum(PARTS)),
  database: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  json: z.boolean(),
});
export type Options = z.infer<typeof options>;

const WHAT_FOLLOWS = `
Parts:
  kills     SIGKILL of server, bridge or both at random, through whole approval flows
  appends   SIGKILL of the server before and after each append to its journal
  outbox    SIGKILL of the bridge before and after each write to its outbox
  repeats   SIGKILL of bridge, server or both around the answer; the client repeats the same call
  proxy     connections cut at every byte, reset, half-closed, delayed, throttled, doubled
  stalls    a peer that accepts and never answers, or stops in the middle
  disk      a disk that is full for a while (Linux, with prlimit of util-linux)
  frames    malformed MCP frames at the bridge, 2,500 a round
  answers   malformed answers and events of agents at the bridge, 1,000 a round
  replicas  three servers on one PostgreSQL: SIGKILL, SIGSTOP, cut connections of the database and of clients
  blackbox  what any A2A server keeps and loses, on our server and on one that forgets

Exit codes:
  0  everything held
  1  something did not: each finding is printed with its seed, its round and the command that tries it again
  2  the run could not be made: an option is wrong, or a program does not start

Examples:
  npm run faults                                              four rounds of each part
  npm run faults -- --seed 7 --only kills --from 12 --rounds 1    one round again
  npm run faults -- --only kills,proxy --rounds 1000 --minutes 30

To test another A2A server, use: mcp-a2a-bridge probe <url>
`;

/** @throws CommanderError, also after the output of --help */
export function readCommandLine(args: readonly string[]): Options {
  const command = new Command('npm run faults --')
    .description(
      'Kills real processes, cuts and stalls their connections, fills their disk, and checks that nothing is lost, repeated or run twice.',
    )
    .option('--seed <n>', 'the seed of every random choice (default: a new seed)', whole)
    .option('--rounds <n>', 'rounds of each part', count, 4)
    .option('--from <n>', 'the first round', count, 1)
    .option('--minutes <n>', 'no round of a part starts after this time', count, 10)
    .option('--lanes <n>', 'the number of parallel rounds', count, 2)
    .addOption(
      new Option('--only <parts>', 'only these parts, separated by commas')
        .argParser(parts)
        .default([...PARTS], 'all of them'),
    )
    .option(
      '--database <url>',
      'a PostgreSQL for the part replicas; each round creates and drops a schema (default: one that the run starts)',
    )
    .option('--json', 'print the result as one JSON object to stdout, and all other output to stderr', false)
    .addHelpText('after', WHAT_FOLLOWS)
    .exitOverride()
    .parse([...args], { from: 'user' });
  const read = options.safeParse({ seed: randomInt(2 ** 31), ...command.opts() });
  if (!read.success) return command.error(`error: ${z.prettifyError(read.error)}`);
  return read.data;
}

function whole(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(number) || number < 0)
    throw new InvalidArgumentError('It must be a whole number, 0 or more.');
  return number;
}

/** Parses a number. The minimum is 1, because a run that does nothing would pass. */
function count(text: string): number {
  const number = whole(text);
  if (number === 0) throw new InvalidArgumentError('It must be at least 1.');
  return number;
}

function parts(text: string): Part[] {
  const chosen = z.array(z.enum(PARTS)).safeParse(text.split(','));
  if (!chosen.success) throw new InvalidArgumentError(`The parts are ${PARTS.join(', ')}.`);
  return chosen.data;
}
