/**
 * A user who sends one delegation after the other. Prints the time of each, in milliseconds, as a JSON array. Arguments:
 * the URL of the server, and the token.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { delegationSender } from './delegation-sender.ts';

/** The first delegations, which the user's own program runs slowly. They are not measured. */
const WARM_UP = 20;
const SAMPLES = 300;

const [url = '', token = ''] = process.argv.slice(2);
const send = delegationSender(url, token);
const times: number[] = [];
while (times.length < WARM_UP + SAMPLES) {
  const began = performance.now();
  const outcome = await send();
  if (outcome === 'failed') throw new Error('a delegation of the quiet user failed');
  if (outcome === 'completed') times.push(performance.now() - began);
  await wait(10);
}
process.stdout.write(`${JSON.stringify(times.slice(WARM_UP))}\n`);
