import picomatch from 'picomatch';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { ApproverDemand } from '../task/approver.ts';
import type { Shell } from './simple-command.ts';
import { RULE_CONDITIONS, ruleName, type Rule, type RuleAction } from './rule.ts';
import { createRuleMatcher, type RuleMatcher } from './rule-matcher.ts';

interface PolicyRule {
  action: RuleAction;
  /** The rule's name for people, with the rule's comment, if any. */
  name: string;
  matches: RuleMatcher;
  approver?: ApproverDemand;
}

export interface Policy {
  rules: readonly PolicyRule[];
  /** What the server demands of the approver of each tool call that a person decides. */
  approver?: ApproverDemand;
}

export const EMPTY_POLICY: Policy = { rules: [] };

/**
 * The prefix of MCP tools. A rule may name any tool with this prefix. MCP servers connect only after the server's
 * start, so their tools are not known yet.
 */
const SERVER_TOOL_PREFIX = 'mcp__';

/**
 * Validates the operator's rules and prepares them for matching.
 * @param tools the names of the existing tools
 * @param fourEyes true if a principal who sent the task a message must not approve its tool calls
 * @throws ProductError CONFIGURATION if rules contradict each other, name an unknown tool, or are invalid
 */
export function createPolicy(
  rules: readonly Rule[],
  {
    tools,
    shell = process.platform === 'win32' ? 'cmd' : 'sh',
    fourEyes = false,
  }: { tools: readonly string[]; shell?: Shell; fourEyes?: boolean },
): Policy {
  refuseContradictions(rules);
  const prepared = rules.map((rule, index): PolicyRule => {
    const name = ruleName(rule, index);
    refuseUnknownTools(rule, name, tools);
    const comment = rule.comment === undefined ? '' : `: ${rule.comment}`;
    return {
      action: rule.action,
      name: `${name}${comment}`,
      matches: prepareMatcher(rule, name, shell),
      ...(rule.approver && { approver: demandOf(rule.approver) }),
    };
  });
  return { rules: prepared, ...(fourEyes && { approver: { fourEyes } }) };
}

function demandOf({ fourEyes, group }: NonNullable<Rule['approver']>): ApproverDemand {
  return { ...(fourEyes && { fourEyes }), ...(group !== undefined && { groups: [group] }) };
}

function prepareMatcher(rule: Rule, name: string, shell: Shell): RuleMatcher {
  try {
    return createRuleMatcher(rule, shell);
  } catch (error) {
    throw invalidPolicyError(`${name} cannot be used: ${errorMessageOf(error)}.`);
  }
}

/** Refuses two rules with the same conditions and different actions, because one of them must be a mistake. */
function refuseContradictions(rules: readonly Rule[]): void {
  const seen = new Map<string, number>();
  for (const [index, rule] of rules.entries()) {
    const key = JSON.stringify(RULE_CONDITIONS.map((condition) => rule[condition]?.toSorted()));
    const before = seen.get(key);
    const other = before === undefined ? undefined : rules[before];
    if (before !== undefined && other !== undefined && other.action !== rule.action)
      throw invalidPolicyError(
        `${ruleName(other, before)} and ${ruleName(rule, index)} contradict each other: they match exactly the same calls. Remove one of them.`,
      );
    seen.set(key, index);
  }
}

function refuseUnknownTools({ tool = [] }: Rule, name: string, tools: readonly string[]): void {
  for (const pattern of tool) {
    const matches = picomatch(pattern, { dot: true, nonegate: true });
    if (pattern.startsWith(SERVER_TOOL_PREFIX) || tools.some((each) => matches(each))) continue;
    throw invalidPolicyError(
      `${name} names a tool that does not exist: ${JSON.stringify(pattern)}. Tools: ${tools.join(', ')}; those of MCP servers begin with ${SERVER_TOOL_PREFIX}.`,
    );
  }
}

function invalidPolicyError(problem: string): ProductError {
  return new ProductError('CONFIGURATION', `Setting "policy" is not valid: ${problem}`, {
    facts: { key: 'policy' },
  });
}
