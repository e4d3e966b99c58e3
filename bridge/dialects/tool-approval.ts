/** The dialect of agents that declare the extension `urn:mcp-a2a-bridge:tool-approval:v1`. */
import type { Part, TaskStatus } from '@a2a-js/sdk';
import { z } from 'zod';
import { ProductError } from '../../shared/runtime/errors.ts';
import { fieldOf } from '../../shared/runtime/record.ts';
import { eventCostSchema } from '../../shared/protocol/cost-report.ts';
import { THINKING_EXTENSION } from '../../shared/protocol/extensions.ts';
import { AGENT_COMMAND_EXTENSION, commandPartSchema } from '../../shared/protocol/agent-command.ts';
import {
  toolCallEventSchema,
  artifactRoleSchema,
  decisionsPartSchema,
  pendingActionsPartSchema,
  revokePartSchema,
  taskOverviewSchema,
  TOOL_APPROVAL_EXTENSION,
} from '../../shared/protocol/tool-approval.ts';
import type {
  Decision,
  DecisionsPart,
  PendingAction,
  RevokePart,
  TaskSettings,
} from '../../shared/protocol/tool-approval.ts';
import { type DialectFieldReaders, readA2aEvent } from './a2a-event.ts';
import { type Dialect, NO_HAZARDS, type PersonDecision } from './dialect.ts';
import { dataOfPart, dataPart, textPart } from './parts.ts';
import { eventCursorOf } from './event-cursor.ts';
import { phraseAnswer, questionOf } from './question-in-status.ts';

const thinkingSchema = z.object({ turn: z.number() });

/**
 * Validates a value from an event, and returns null for an invalid one. Most events contain few of these values. So the
 * function checks for `undefined` first, because zod takes long to describe an error.
 */
function validOrNull<Value>(schema: z.core.$ZodType<Value>, value: unknown): Value | null {
  return value === undefined ? null : (z.safeParse(schema, value).data ?? null);
}

/** Returns the part with its list of pending actions. Returns an empty list if the part has no such list. */
function pendingIn(part: Part): { part: Part; pending: readonly PendingAction[] }[] {
  const list = validOrNull(pendingActionsPartSchema, dataOfPart(part));
  return list === null ? [] : [{ part, pending: list.pending }];
}

const reading: DialectFieldReaders = {
  asked(status: TaskStatus, taskId: string) {
    const lists = (status.message?.parts ?? []).flatMap(pendingIn);
    return {
      pending: lists.flatMap(({ pending }) => pending),
      // A status without a list of pending actions may still ask a question in text.
      question: lists.length > 0 ? null : questionOf(status, taskId),
      actionParts: lists.map(({ part }) => part),
    };
  },
  activity: (metadata) =>
    validOrNull(toolCallEventSchema, fieldOf(fieldOf(metadata, TOOL_APPROVAL_EXTENSION), 'activity')),
  overview: (metadata) => validOrNull(taskOverviewSchema, fieldOf(metadata, TOOL_APPROVAL_EXTENSION)),
  seq: eventCursorOf,
  reasoningTurn: (metadata) =>
    validOrNull(thinkingSchema, fieldOf(metadata, THINKING_EXTENSION))?.turn ?? null,
  cost: (metadata) =>
    validOrNull(eventCostSchema, fieldOf(fieldOf(metadata, TOOL_APPROVAL_EXTENSION), 'cost')),
  aside: (metadata) => validOrNull(artifactRoleSchema, fieldOf(metadata, TOOL_APPROVAL_EXTENSION)),
};

export const toolApprovalDialect: Dialect = {
  name: 'tool-approval',
  hazards: NO_HAZARDS,
  keepsTask: false,
  clientNamesSession: false,
  ignores: [],
  read: (event) => readA2aEvent(event, reading),
  phraseRevocation: (revoke, channel) => {
    const data: RevokePart = revokePartSchema.parse({ extension: TOOL_APPROVAL_EXTENSION, revoke, channel });
    return { parts: [dataPart(data)], metadata: undefined };
  },
  phraseTask: (text, settings) => ({ parts: [textPart(text)], metadata: metadataOf(settings) }),
  phraseCommand: (command, settings) => ({
    parts: [dataPart(commandPartSchema.parse({ extension: AGENT_COMMAND_EXTENSION, ...command }))],
    metadata: metadataOf(settings),
    extensions: [AGENT_COMMAND_EXTENSION],
  }),
  phraseDecisions(given, asked, channel) {
    if (asked.question !== null) return phraseAnswer(given, asked.question);
    const decisions = given.map((each) =>
      each.type === 'answer' ? answerOn(each, asked.pending) : each.decision,
    );
    const data: DecisionsPart = decisionsPartSchema.parse({
      extension: TOOL_APPROVAL_EXTENSION,
      decisions,
      channel,
    });
    return { parts: [dataPart(data)], metadata: undefined };
  },
};

/**
 * Builds the decision that answers a question. The question is a pending action. D1: the first valid decision wins. The
 * agent refuses the answer if the action no longer waits.
 */
function answerOn(
  { callId, answer, shown }: Extract<PersonDecision, { type: 'answer' }>,
  pending: readonly PendingAction[],
): Decision {
  const action = pending.find((each) => each.callId === callId);
  if (action?.decisions.includes('answer') === false)
    throw new ProductError(
      'INVALID_DECISION',
      `"answer" is for questions; ${callId} is a tool call that waits for approval. Decide it with ${action.decisions.join(' or ')}.`,
      { facts: { callId } },
    );
  return { callId, shown, decision: 'answer', scope: 'once', answer };
}

function metadataOf(settings: TaskSettings): Record<string, unknown> | undefined {
  return Object.keys(settings).length === 0 ? undefined : { [TOOL_APPROVAL_EXTENSION]: settings };
}
