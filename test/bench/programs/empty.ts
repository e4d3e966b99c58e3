/** A program that does nothing: what Node itself costs. */
process.stdout.write('ready\n');
process.stdin.resume();
setInterval(() => undefined, 60_000);
