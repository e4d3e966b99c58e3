/**
 * The dialect of gemini-cli's a2a-server (A2A 0.3). The bridge recognizes this agent by the name on its card.
 * docs/agents.md describes its observed behaviour.
 */
import type { Part } from '@a2a-js/sdk';
import { z } from 'zod';
import { ProductError } from '../../shared/runtime/errors.ts';
import { type Dialect, refuseCommand, type PersonDecision } from './dialect.ts';
import { readGeminiEvent } from './gemini-event.ts';
import { toConfirmation, editExplanationMessages } from './gemini-outcome-of-decision.ts';
import { dataOfPart, dataPart, textPart } from './parts.ts';
import { phraseAnswer } from './question-in-status.ts';

const confirmed = z.object({ callId: z.string(), outcome: z.string() });

/**
 * Matches the URI of an extension that gemini-cli's repository proposes. An agent that declares the extension gets this
 * dialect, whatever its name is.
 */
const PROPOSED_EXTENSION =
  /^https:\/\/github\.com\/google-gemini\/gemini-cli\/.*(?:developer-profile|development-tool)\b/;

export interface AgentCardIdentity {
  name: string;
  extensions: readonly string[];
}

export function isGemini({ name, extensions }: AgentCardIdentity): boolean {
  return name === 'Gemini SDLC Agent' || extensions.some((uri) => PROPOSED_EXTENSION.test(uri));
}

const REASON_NOT_SENT_NOTE =
  'This agent accepts no reason with a decision, so yours was not sent. Send it as a message after its turn has ended.';
const EDIT_SENT_AS_MESSAGE_NOTE =
  'This agent cannot run an edited call. The bridge denied the call and sends your change as a message. The agent then asks again.';

export const geminiDialect: Dialect = {
  name: 'gemini',
  hazards: {
    socketEndAborts: true,
    decidedBy: (parts) => confirmationsIn(parts).map(({ callId }) => callId),
    approvedBy: (parts) =>
      confirmationsIn(parts)
        .filter(({ outcome }) => outcome !== 'cancel')
        .map(({ callId }) => callId),
    outlivesCancel:
      'This agent does not end the process of a running command, so a command may still run after the cancel. Check there.',
  },
  keepsTask: true,
  asksOneByOne: true,
  clientNamesSession: true,
  ignores: ['readOnly', 'mode', 'model'],
  read: readGeminiEvent,
  phraseTask(text, { workspace, autoExecute }) {
    // The agent takes the workspace from these settings. Without them, it works in its own directory.
    if (workspace === undefined) return { parts: [textPart(text)], metadata: undefined };
    const settings = {
      kind: 'agent-settings',
      workspacePath: workspace,
      ...(autoExecute === undefined ? {} : { autoExecute }),
    };
    return { parts: [textPart(text)], metadata: { coderAgent: settings } };
  },
  phraseCommand: refuseCommand,
  phraseDecisions(given, { pending, question }) {
    if (question !== null && pending.length === 0) return phraseAnswer(given, question);
    const decisions = given.map(decisionIn);
    const parts = decisions.map((decision) => dataPart(toConfirmation(decision, pending)));
    const edits = decisions.flatMap((decision) => editExplanationMessages(decision, pending));
    const unsaid = decisions.some(({ reason }) => reason !== undefined && reason !== '');
    return {
      parts,
      metadata: undefined,
      notes: [
        ...(unsaid ? [REASON_NOT_SENT_NOTE] : []),
        ...(edits.length > 0 ? [EDIT_SENT_AS_MESSAGE_NOTE] : []),
      ],
      ...(edits.length > 0 && { afterwards: edits.join('\n\n') }),
    };
  },
};

function confirmationsIn(parts: readonly Part[]): readonly z.infer<typeof confirmed>[] {
  return parts.flatMap((part) => confirmed.safeParse(dataOfPart(part)).data ?? []);
}

function decisionIn(each: PersonDecision) {
  if (each.type === 'decision') return each.decision;
  throw new ProductError(
    'INVALID_DECISION',
    `"answer" is only for questions. ${each.callId} is a tool call, or does not wait. Decide a call with approve or deny.`,
    { facts: { callId: each.callId } },
  );
}
