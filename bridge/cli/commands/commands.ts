/** `commands`: what an agent does by name. */
import { visibleLine } from '../../../shared/visible-text.ts';
import { commandsOf, commandUsage } from '../../agents/commands.ts';
import { openDesk } from '../desk.ts';
import type { CommonOptions, Run } from '../run.ts';
import { table } from '../terminal/table.ts';

export interface CommandsOptions extends CommonOptions {
  agent?: string;
}

/** @throws ProductError UNKNOWN_AGENT, UNKNOWN_COMMAND for an agent that offers none */
export async function commands(run: Run<CommandsOptions>): Promise<void> {
  const { options, terminal } = run;
  const desk = await openDesk(run);
  const agent = desk.registry.pick(options.agent);
  const offered = await commandsOf(agent);
  await desk.close();
  if (options.json === true) terminal.say(JSON.stringify({ agent: agent.name, commands: offered }));
  else
    terminal.say(
      table(
        [{ title: 'COMMAND' }, { title: 'DOES' }],
        offered.map((each) => [
          { text: visibleLine(commandUsage(each)) },
          { text: visibleLine(each.description) },
        ]),
        terminal.width,
      ),
    );
}
