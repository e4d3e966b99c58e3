/** Parses the decisions in a tool call, and converts them for the agent's dialect. Pure. */
import { z } from 'zod';
import { ProductError } from '../../shared/runtime/errors.ts';
import { answerSchema as protocolAnswer } from '../../shared/protocol/question.ts';
import { decisionSchema as protocolDecision } from '../../shared/protocol/tool-approval.ts';
import type {
  DecisionScope,
  DecisionWord,
  GrantLimits,
  PendingAction,
} from '../../shared/protocol/tool-approval.ts';
import type { PersonDecision } from '../dialects/dialect.ts';
import { inputProblem, zodIssuesText } from '../../shared/text/input-problem.ts';

/**
 * The words that a decision may have. D1: only a valid decision has an effect. R06: any other word is an error, never
 * an approval.
 */
export const DECISION_WORDS = [
  'approve',
  'deny',
  'edit',
  'trust_always',
  'trust_tool',
  'trust_server',
  'answer',
] as const;
export type McpDecisionWord = (typeof DECISION_WORDS)[number];

const content = {
  editedContent: z
    .string()
    .optional()
    .describe('With "edit": the text to write, or the command line to run, instead of the proposed one.'),
  editedInput: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('With "edit": the whole input of the tool call, instead of the agent\'s.'),
  answer: z
    .optional(protocolAnswer)
    .describe(
      'With "answer": what the person said. Words, the label of a choice, a list of labels, or an object for a form.',
    ),
  trustMinutes: z
    .number()
    .positive()
    .optional()
    .describe('With trust_…: for this many minutes. Default: until the task ends.'),
  trustUses: z
    .int()
    .min(1)
    .optional()
    .describe('With trust_…: for this many later calls. Default: no limit.'),
  reason: z.string().max(10_000).optional().describe('The reason, for the agent and the journal.'),
};

const SHOWN_DESCRIPTION = 'The code of the question that the person saw.';

export const decisionInputSchema = z.strictObject({
  callId: z.string().min(1).describe('Which pending action, as shown.'),
  shown: z.string().min(1).max(100).describe(SHOWN_DESCRIPTION),
  decision: z.enum(DECISION_WORDS),
  ...content,
});
export type DecisionInput = z.infer<typeof decisionInputSchema> & {
  /** The title of the action, which the person has read in the client's dialog. */
  title?: string | undefined;
};

/**
 * The title of the pending action. The client's own dialog shows the arguments of the tool call, so the person reads
 * this title there. The bridge compares it with the title of the pending action.
 */
export const actionTitleSchema = z
  .string()
  .min(1)
  .max(10_000)
  .optional()
  .describe('The title of the pending action, exactly as shown. Put it directly after decision.');

/**
 * The arguments for a single decision. The client's dialog shows them in this order. All of them are optional, because
 * a tool call may have the argument `decisions` instead.
 */
export const singleDecisionFields = {
  decision: z.enum(DECISION_WORDS).optional().describe("The person's decision."),
  title: actionTitleSchema,
  callId: z.string().min(1).optional().describe('Which pending action, as shown.'),
  shown: z.string().min(1).max(100).optional().describe(SHOWN_DESCRIPTION),
  ...content,
};

const MEANING: Record<
  Exclude<McpDecisionWord, 'answer'>,
  { decision: DecisionWord; scope: DecisionScope }
> = {
  approve: { decision: 'approve', scope: 'once' },
  deny: { decision: 'deny', scope: 'once' },
  edit: { decision: 'edit', scope: 'once' },
  trust_tool: { decision: 'approve', scope: 'tool' },
  trust_server: { decision: 'approve', scope: 'server' },
  trust_always: { decision: 'approve', scope: 'always' },
};

type Single = { [Key in keyof DecisionInput]?: DecisionInput[Key] | undefined };

/**
 * Returns the decisions of a tool call: its list, or its single decision. The tool call must contain exactly one of the
 * two.
 * @throws ProductError INVALID_DECISION
 */
export function decisionsOfToolCall(
  single: Single,
  list: readonly DecisionInput[] | undefined,
): readonly DecisionInput[] {
  if (list !== undefined) {
    if (single.callId !== undefined || single.decision !== undefined || single.shown !== undefined) {
      throw invalidDecisionInputError('Give either callId, shown and decision, or decisions, not both.');
    }
    const ids = new Set(list.map((each) => each.callId));
    if (ids.size !== list.length)
      throw invalidDecisionInputError('A call can be decided once: a callId appears twice in decisions.');
    return list;
  }
  const { callId, shown, decision } = single;
  if (callId === undefined || shown === undefined || decision === undefined) {
    throw invalidDecisionInputError(
      `Nothing was decided. Give callId, shown and decision (${DECISION_WORDS.join(', ')}), or a list in decisions. wait_for_task shows callId and shown.`,
    );
  }
  return [{ ...single, callId, shown, decision }];
}

/**
 * Converts a decision for the agent's dialect. D2: a decision is valid only for what the person saw. So this function
 * keeps the `shown` code, and never adds a missing one.
 * @throws ProductError INVALID_DECISION
 */
export function toPersonDecision(input: DecisionInput): PersonDecision {
  const { callId, shown, decision: word, editedContent, editedInput, answer, reason } = input;
  const edits = editedContent !== undefined || editedInput !== undefined;
  if (edits && word !== 'edit') {
    throw invalidDecisionInputError(
      `The edited content for ${callId} needs the decision "edit"; with "${word}" it would be lost.`,
    );
  }
  if (answer !== undefined && word !== 'answer') {
    throw invalidDecisionInputError(
      `The answer for ${callId} needs the decision "answer"; with "${word}" it would be lost.`,
    );
  }
  if (word === 'answer') {
    if (answer === undefined) throw invalidDecisionInputError(`Say the answer to ${callId} in "answer".`);
    return { type: 'answer', callId, shown, answer };
  }
  if (word === 'edit' && !edits) {
    throw invalidDecisionInputError(
      `To edit ${callId}, give editedContent (the new text) or editedInput (the whole new input).`,
    );
  }
  if (editedContent !== undefined && editedInput !== undefined) {
    throw invalidDecisionInputError(`Edit ${callId} with editedContent or with editedInput, not both.`);
  }
  const grant = limitsIn(input);
  if (grant !== undefined && MEANING[word].scope === 'once')
    throw invalidDecisionInputError('A trust limit needs a trust decision.');
  const parsed = protocolDecision.safeParse(
    {
      callId,
      shown,
      ...MEANING[word],
      ...(grant === undefined ? {} : { grant }),
      ...(editedInput === undefined ? {} : { input: editedInput }),
      ...(editedContent === undefined ? {} : { content: editedContent }),
      ...(reason === undefined ? {} : { reason }),
    },
    { error: inputProblem },
  );
  if (!parsed.success)
    throw invalidDecisionInputError(
      `The decision on ${callId} is not valid: ${zodIssuesText(parsed.error)}.`,
    );
  return { type: 'decision', decision: parsed.data };
}

function limitsIn({ trustMinutes: minutes, trustUses: uses }: DecisionInput): GrantLimits | undefined {
  if (minutes === undefined && uses === undefined) return undefined;
  return { ...(minutes === undefined ? {} : { minutes }), ...(uses === undefined ? {} : { uses }) };
}

function invalidDecisionInputError(message: string): ProductError {
  return new ProductError('INVALID_DECISION', message);
}

/**
 * Returns the decision words that the bridge accepts for this action. If the action demands a passkey, only the
 * server's page can approve it.
 */
export function decisionWordsFor({ decisions, source, scopes, presence }: PendingAction): McpDecisionWord[] {
  if (presence === true) return decisions.filter((word) => word === 'deny');
  const words: McpDecisionWord[] = [...decisions];
  if (!decisions.includes('approve')) return words;
  const reaches = (scope: DecisionScope): boolean => scopes?.includes(scope) ?? true;
  if (reaches('tool')) words.push('trust_tool');
  if (source.type === 'mcp-server' && reaches('server')) words.push('trust_server');
  if (reaches('always')) words.push('trust_always');
  return words;
}
