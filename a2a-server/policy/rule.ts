import { z } from 'zod';
import { IDENTITY_NAME_PATTERN } from '../access/requester.ts';

/**
 * - `deny`: a matching tool call never runs.
 * - `presence`: a person decides each time, and approves with a passkey on the page.
 * - `ask`: a person decides each time.
 * - `allow`: the call runs without asking.
 */
const ruleAction = z.enum(['allow', 'ask', 'presence', 'deny']);
export type RuleAction = z.infer<typeof ruleAction>;

const pattern = z.string().min(1).max(1000);
/** The schema of a condition: one pattern, or a list of patterns. At least one pattern must match. */
const patterns = z.union([pattern.transform((one) => [one]), z.array(pattern).min(1).max(1000)]).optional();

/** The conditions of a rule. A rule matches a tool call if all its conditions match. */
export const RULE_CONDITIONS = ['tool', 'server', 'path', 'command', 'host'] as const;

export const ruleSchema = z
  .strictObject({
    action: ruleAction,
    /** Tools, by name or glob. */
    tool: patterns,
    /** MCP servers, by name or glob. */
    server: patterns,
    /**
     * Files of the workspace, by glob. A glob without a slash matches a name at any depth. A glob with a slash matches
     * a path from the root.
     */
    path: patterns,
    /**
     * Command lines. `allow` matches exactly these words, or more words after `…`. Other actions match any mention of
     * the words.
     */
    command: patterns,
    /** Hosts of fetch and crawl, by name or glob. */
    host: patterns,
    /** Who may approve. All conditions must hold. Only for `ask` and `presence`. */
    approver: z
      .strictObject({
        /** If true, a principal who sent the task a message must not approve. */
        fourEyes: z.literal(true, 'write true, or leave it out').optional(),
        /** The approver must be in this group. */
        group: z
          .string()
          .regex(IDENTITY_NAME_PATTERN, 'a group has 1 to 100 letters, digits and . _ @ -')
          .optional(),
      })
      .refine(({ fourEyes, group }) => fourEyes !== undefined || group !== undefined, {
        message: 'it needs fourEyes, group, or both',
      })
      .optional(),
    /** The reason of the rule. Each verdict of this rule shows the reason. */
    comment: z.string().max(1000).optional(),
  })
  .refine((it) => RULE_CONDITIONS.some((condition) => it[condition] !== undefined), {
    message: `it needs one of ${RULE_CONDITIONS.join(', ')}; "tool": "*" matches every call`,
  })
  .refine(({ action, approver }) => approver === undefined || action === 'ask' || action === 'presence', {
    message: 'only a rule with the action "ask" or "presence" has an approver',
  });
export type Rule = z.output<typeof ruleSchema>;

export const rulesSchema = z.array(ruleSchema).max(1000);

/** Returns a rule's name for messages and the journal, e.g. `rule 2 (deny: command "git push")`. @param index from 0 */
export function ruleName(it: Rule, index: number): string {
  const said = RULE_CONDITIONS.flatMap((condition) => {
    const wanted = it[condition];
    return wanted === undefined
      ? []
      : [`${condition} ${wanted.map((each) => JSON.stringify(each)).join(' or ')}`];
  });
  return `rule ${index + 1} (${it.action}: ${said.join(', ')}${approverText(it)})`;
}

function approverText({ approver }: Rule): string {
  if (approver === undefined) return '';
  const { fourEyes, group } = approver;
  const who = [...(fourEyes ? ['four eyes'] : []), ...(group === undefined ? [] : [`group ${group}`])];
  return `; approver: ${who.join(', ')}`;
}
