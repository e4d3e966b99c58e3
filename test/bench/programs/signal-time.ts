/** Prints its process id and waits. On SIGTERM it writes the time into the given file, in milliseconds, and exits. */
import { writeFileSync } from 'node:fs';

const [, , file = ''] = process.argv;
process.on('SIGTERM', () => {
  writeFileSync(file, String(performance.timeOrigin + performance.now()));
  process.exit(0);
});
setInterval(() => undefined, 60_000);
process.stdout.write(`pid ${process.pid}\n`);
