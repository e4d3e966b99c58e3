/** A program that does nothing, to measure the cost of Node alone. */
process.stdout.write('ready\n');
process.stdin.resume();
setInterval(() => undefined, 60_000);
