/** A rule of policy, as the operator writes it. */
import { z } from 'zod';

/** `deny`: it does not run, whoever says so. `ask`: a person decides each time. `allow`: it runs unasked. */
const ruleAction = z.enum(['allow', 'ask', 'deny']);
export type RuleAction = z.infer<typeof ruleAction>;

const pattern = z.string().min(1).max(1000);
/** One, or several of which any will do. */
const patterns = z.union([pattern.transform((one) => [one]), z.array(pattern).min(1).max(1000)]).optional();

/** What a rule looks at. It speaks of a call that fits each that is given. */
export const CONDITIONS = ['tool', 'server', 'path', 'command', 'host'] as const;

export const rule = z
  .strictObject({
    action: ruleAction,
    /** Tools, by name or glob. */
    tool: patterns,
    /** MCP servers, by name or glob. */
    server: patterns,
    /** Files of the workspace, by glob: without a slash a name at any depth, with one a path from the workspace's root. */
    path: patterns,
    /** Command lines: `allow` means exactly these words, or these first where it ends in `…`; others, any mention of them. */
    command: patterns,
    /** Hosts of fetch and crawl, by name or glob. */
    host: patterns,
    /** Why; shown with every verdict of the rule. */
    comment: z.string().max(1000).optional(),
  })
  .refine((it) => CONDITIONS.some((condition) => it[condition] !== undefined), {
    message: `it needs one of ${CONDITIONS.join(', ')}, and reaches everything with "tool": "*"`,
  });
export type Rule = z.output<typeof rule>;

export const rules = z.array(rule).max(1000);

/** As messages and the journal name it, e.g. `rule 2 (deny: command "git push")`. @param index from 0 */
export function ruleName(it: Rule, index: number): string {
  const said = CONDITIONS.flatMap((condition) => {
    const wanted = it[condition];
    return wanted === undefined
      ? []
      : [`${condition} ${wanted.map((each) => JSON.stringify(each)).join(' or ')}`];
  });
  return `rule ${index + 1} (${it.action}: ${said.join(', ')})`;
}
