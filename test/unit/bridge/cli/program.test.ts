import { expect, it } from '@jest/globals';
import { createBridgeCommandLine } from '../../../../bridge/cli/program.ts';

const places = { bridgeScript: '', serverScript: '', cardFile: '' };

it('the help of --json says which commands print more than one object', () => {
  const program = createBridgeCommandLine(async () => undefined, places);
  const all = program.commands.flatMap((command) => [command, ...command.commands]);
  const several = all.filter(({ options }) =>
    options.some(({ long, description }) => long === '--json' && description.includes('on each line')),
  );
  expect(several.map((command) => command.name())).toEqual(['inbox', 'watch', 'logs']);
});
