/** Prints the width of the terminal that this program runs in, and how many more files are open after measuring it often. */
import { readdirSync } from 'node:fs';
import { clientTerminalColumns } from '../../bridge/approvals/client-terminal-width.ts';

const openFiles = (): number => readdirSync('/dev/fd').length;
process.stdout.write(`width: ${String(clientTerminalColumns())}\n`);
const before = openFiles();
for (let count = 0; count < 50; count += 1) clientTerminalColumns();
process.stdout.write(`more open files: ${String(openFiles() - before)}\n`);
