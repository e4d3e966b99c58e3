/** The command `cost`: prints what the tasks of each agent cost, by UTC day, by session and by model. */
import type { CostReport } from '../../../shared/protocol/cost-report.ts';
import { askEachAgent } from '../../agents/ask-each.ts';
import type { CommandRun } from '../context/run-command.ts';
import { costReportTables } from '../terminal/cost-tables.ts';
import { unreachableAgentsExitCode } from '../terminal/exit-codes.ts';
import { readNumberOption } from '../terminal/option-value.ts';
import { noAnswerText } from '../terminal/terminal-words.ts';

interface CostOptions {
  agent?: string;
  days?: string;
}

const DEFAULT_DAYS = '30';
/** The maximum number of days that `GET /api/costs` accepts. */
const MAX_DAYS = 3_660;

export async function costCommand(run: CommandRun<CostOptions>): Promise<number> {
  const { options, terminal } = run;
  const days = readNumberOption('--days', options.days ?? DEFAULT_DAYS, { min: 1, max: MAX_DAYS });
  const context = await run.openSessions();
  const agents = options.agent === undefined ? context.registry.all : [context.registry.pick(options.agent)];
  const { answers, unreachable } = await askEachAgent(agents, (agent) =>
    agent.ask((connection) => connection.costs(days)),
  );
  const reports = [...answers].flatMap(([agent, report]): (CostReport & { agent: string })[] =>
    report === null ? [] : [{ agent, ...report }],
  );
  const without = [...answers].flatMap(([agent, report]) => (report === null ? [agent] : []));
  terminal.json({ costs: reports, without, unreachable });
  for (const { agent, ...report } of reports) {
    if (agents.length > 1) terminal.say(terminal.paint('bold', `Agent "${agent}"`));
    terminal.say(costReportTables(report, terminal.width));
  }
  for (const agent of without) terminal.complain(`Agent "${agent}" does not report costs.`);
  for (const each of unreachable) terminal.complain(noAnswerText(each));
  return answers.size === 0 ? unreachableAgentsExitCode(unreachable) : 0;
}
