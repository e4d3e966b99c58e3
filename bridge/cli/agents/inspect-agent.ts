/** Checks an agent and shows what it can do. */
import type { CheckResult } from '../../../shared/runtime/check-result.ts';
import { type AgentAbilities, probeAgentAbilities } from '../../agents/abilities.ts';
import type { Agent } from '../../agents/agent.ts';
import { checkAgent } from '../doctor/check-agent.ts';
import { printCheckResult } from '../terminal/print-check-result.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { abilitiesText } from './abilities-text.ts';

export interface AgentInspection {
  findings: readonly CheckResult[];
  /** What the agent can do. Null if a check failed. */
  abilities: AgentAbilities | null;
}

/** Checks the agent, and finds out what it can do. Starts no task. */
export async function inspectAgent(agent: Agent): Promise<AgentInspection> {
  const findings = await checkAgent(agent);
  return { findings, abilities: hasFailedCheck(findings) ? null : await probeAgentAbilities(agent) };
}

export function hasFailedCheck(findings: readonly CheckResult[]): boolean {
  return findings.some(({ level }) => level === 'fail');
}

export function printInspection(
  terminal: Terminal,
  name: string,
  { findings, abilities }: AgentInspection,
): void {
  terminal.say(terminal.paint('bold', name));
  for (const finding of findings) printCheckResult(terminal, finding);
  if (abilities !== null) terminal.explain(abilitiesText(abilities));
}
