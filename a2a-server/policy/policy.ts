/** The operator's rules, checked as a whole and made ready. What they add up to is in verdict.ts. */
import picomatch from 'picomatch';
import { messageOf, ProductError } from '../../shared/errors.ts';
import type { Shell } from './plain-words.ts';
import { CONDITIONS, ruleName, type Rule, type RuleAction } from './rule.ts';
import { ruleMatcher, type RuleMatcher } from './rule-matcher.ts';

export interface PolicyRule {
  action: RuleAction;
  /** With its comment, if it has one. */
  name: string;
  speaksOf: RuleMatcher;
}

export type Policy = readonly PolicyRule[];

export const NO_RULES: Policy = [];

/** The tools of MCP servers come and go with their servers, and cannot be known at the start. */
const FROM_SERVERS = 'mcp__';

/**
 * @param tools the names of the tools there are
 * @throws ProductError CONFIGURATION for rules that contradict each other, that name a tool there is none of, or that
 * cannot be understood
 */
export function createPolicy(
  rules: readonly Rule[],
  { tools, shell = process.platform === 'win32' ? 'cmd' : 'sh' }: { tools: readonly string[]; shell?: Shell },
): Policy {
  refuseContradictions(rules);
  return rules.map((rule, index) => {
    const name = ruleName(rule, index);
    refuseUnknownTools(rule, name, tools);
    const comment = rule.comment === undefined ? '' : `: ${rule.comment}`;
    return { action: rule.action, name: `${name}${comment}`, speaksOf: matcher(rule, name, shell) };
  });
}

function matcher(rule: Rule, name: string, shell: Shell): RuleMatcher {
  try {
    return ruleMatcher(rule, shell);
  } catch (error) {
    throw unusable(`${name} cannot be used: ${messageOf(error)}.`);
  }
}

/** Deny would win, but whoever wrote both has not meant one of them. */
function refuseContradictions(rules: readonly Rule[]): void {
  const seen = new Map<string, number>();
  for (const [index, rule] of rules.entries()) {
    const key = JSON.stringify(CONDITIONS.map((condition) => rule[condition]?.toSorted()));
    const before = seen.get(key);
    const other = before === undefined ? undefined : rules[before];
    if (before !== undefined && other !== undefined && other.action !== rule.action)
      throw unusable(
        `${ruleName(other, before)} and ${ruleName(rule, index)} contradict each other: they speak of the very same calls. Remove one of them.`,
      );
    seen.set(key, index);
  }
}

function refuseUnknownTools({ tool = [] }: Rule, name: string, tools: readonly string[]): void {
  for (const pattern of tool) {
    const matches = picomatch(pattern, { dot: true, nonegate: true });
    if (pattern.startsWith(FROM_SERVERS) || tools.some((each) => matches(each))) continue;
    throw unusable(
      `${name} names a tool that does not exist: ${JSON.stringify(pattern)}. Tools: ${tools.join(', ')}; those of MCP servers begin with ${FROM_SERVERS}.`,
    );
  }
}

function unusable(problem: string): ProductError {
  return new ProductError('CONFIGURATION', `Setting "policy" is not valid: ${problem}`, {
    facts: { key: 'policy' },
  });
}
