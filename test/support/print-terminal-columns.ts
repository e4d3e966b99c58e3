/** Prints the width of the terminal that this program runs in. */
import { terminalColumns } from '../../bridge/approvals/client-window.ts';

process.stdout.write(`width: ${String(terminalColumns())}\n`);
