import { paintNothing } from '../../bridge/cli/terminal/paint.ts';
import type { Terminal } from '../../bridge/cli/terminal/terminal.ts';

const nothing = (): void => undefined;

/** Returns a terminal without a person. It prints nothing, except with these parts. */
export function fakeTerminal(parts: Partial<Terminal> = {}): Terminal {
  return {
    paint: paintNothing,
    width: undefined,
    pagerWidth: undefined,
    interactive: false,
    printsJson: false,
    canAsk: false,
    json: nothing,
    say: nothing,
    explain: nothing,
    write: nothing,
    complain: nothing,
    warn: nothing,
    confirm: async () => false,
    ask: async () => '',
    ...parts,
  };
}
