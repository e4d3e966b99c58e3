/** The command `commands`: lists the commands that an agent offers. */
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { fetchAgentCommands } from '../../agents/agent-commands.ts';
import { agentCommandUsage } from '../../../shared/protocol/agent-command.ts';
import type { CommandRun } from '../context/run-command.ts';
import { formatTable } from '../terminal/table.ts';

interface CommandsOptions {
  agent?: string;
}

/**
 * Prints the commands that an agent offers.
 * @throws ProductError UNKNOWN_AGENT; UNKNOWN_COMMAND if the agent has no commands
 */
export async function listAgentCommands(run: CommandRun<CommandsOptions>): Promise<void> {
  const { options, terminal } = run;
  const context = await run.openSessions();
  const agent = context.registry.pick(options.agent);
  const offered = await fetchAgentCommands(agent);
  terminal.json({ agent: agent.name, commands: offered });
  terminal.say(
    formatTable(
      [{ title: 'COMMAND' }, { title: 'DOES' }],
      offered.map((each) => [
        { text: visibleLine(agentCommandUsage(each)) },
        { text: visibleLine(each.description) },
      ]),
      terminal.width,
    ),
  );
}
