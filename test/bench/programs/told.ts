/** Says who it is, waits, and writes into the file it is given when it was told to end (SIGTERM), in milliseconds. */
import { writeFileSync } from 'node:fs';

const [, , file = ''] = process.argv;
process.on('SIGTERM', () => {
  writeFileSync(file, String(performance.timeOrigin + performance.now()));
  process.exit(0);
});
setInterval(() => undefined, 60_000);
process.stdout.write(`told as ${process.pid}\n`);
