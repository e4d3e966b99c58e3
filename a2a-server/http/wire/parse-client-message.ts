/**
 * Converts an A2A message to a command for the task service. Checks everything that does not depend on the task's
 * state. `request-schemas.ts` has already checked the types.
 *
 * D1: a data part may look like a decision and be invalid. Such a part is an error. It never approves anything, and the
 * model never gets it.
 */
import { stringify } from 'safe-stable-stringify';
import type { Message, Part, SendMessageRequest } from '@a2a-js/sdk';
import type { TraceContext } from '../../../shared/net/trace-context.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { AGENT_COMMAND_EXTENSION, commandPartSchema } from '../../../shared/protocol/agent-command.ts';
import type { CommandCall } from '../../../shared/protocol/agent-command.ts';
import { MAX_MESSAGE_FILE_BYTES } from '../../../shared/protocol/attached-file.ts';
import { decisionsPartSchema, revokePartSchema } from '../../../shared/protocol/decision.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { taskSettingsSchema } from '../../../shared/protocol/task-settings.ts';
import type { DecisionsPart, RevokePart, TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import type { Requester } from '../../access/requester.ts';
import type { ClientMessage } from '../../executor/messages/client-message.ts';
import type { ExpectedGeneration } from '../../task/generation.ts';
import type { MessagePart, UserMessage } from '../../task/events.ts';
import { INPUT_MODES } from './output-modes.ts';
import { parseFilePart } from './parse-file-part.ts';
import type { FileBytes } from '../../journal/journal.ts';
import { fieldOf, isRecord } from '../../../shared/runtime/record.ts';
import { sha256 } from '../../../shared/runtime/sha256.ts';
import { parseOrRefuse, validateRequestInput } from './validate-request-input.ts';

const DEFAULT_CHANNEL = 'a2a';

interface RequestOrigin {
  requester: Requester;
  speaksApproval: boolean;
  expectedGeneration?: ExpectedGeneration | undefined;
  trace?: TraceContext | undefined;
}

/**
 * Converts a request to a command.
 * @throws ProductError MALFORMED, UNSUPPORTED_CONTENT or INVALID_DECISION
 */
export function parseClientMessage(
  request: SendMessageRequest,
  { requester, speaksApproval, expectedGeneration, trace }: RequestOrigin,
): ClientMessage {
  const { message } = request;
  if (message === undefined) throw malformed('The request has no message.');
  const contents: FileBytes[] = [];
  const parts = message.parts.map((part) => partOf(part, contents));
  refuseLargeFiles(contents);
  const command = commandIn(parts);
  const deciding = command === undefined ? decidingIn(parts) : undefined;
  const settings = settingsIn(message);
  const taskId = message.taskId === '' ? {} : { taskId: message.taskId };
  const sessionId = message.contextId === '' ? {} : { sessionId: message.contextId };
  return {
    ...requester,
    channel: deciding?.channel ?? DEFAULT_CHANNEL,
    message: { messageId: message.messageId, parts, ...(command && { command }), ...aboutOf(message) },
    ...(contents.length > 0 && { contents }),
    // The hash covers the parts, the settings and the ids of the task and the session. For a file, it covers the file's
    // own hash. So a repeated message has the same hash over every binding and A2A version.
    bodyHash: sha256(stringify({ parts, settings, ...taskId, ...sessionId }) ?? ''),
    ...taskId,
    ...sessionId,
    ...(expectedGeneration && { expectedGeneration }),
    settings,
    wordsDecide: !speaksApproval,
    ...(trace && { trace }),
    ...(deciding && ('revoke' in deciding ? { revoke: deciding.revoke } : { decisions: deciding })),
  };
}

/**
 * Converts a part of the message. `request-schemas.ts` has checked that each part has content. The SDK's codec drops
 * `"data": null`, so a part without content had that value.
 * @param contents the function adds the content of a file part to this list
 */
function partOf({ content, mediaType, filename }: Part, contents: FileBytes[]): MessagePart {
  if (content?.$case === 'raw') {
    const { part, stored } = parseFilePart({ bytes: content.value, name: filename });
    contents.push(...stored);
    return part;
  }
  // The server does not fetch this URL, because a URL can carry data out. The tool `fetch` first asks a person.
  if (content?.$case === 'url')
    throw new ProductError(
      'UNSUPPORTED_CONTENT',
      "This agent takes no file part with a URL. Send the file's bytes, or name the URL in a text part: the agent asks before it fetches a URL.",
    );
  const supported = INPUT_MODES.includes(mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  if (mediaType !== '' && !supported)
    throw new ProductError(
      'UNSUPPORTED_CONTENT',
      `The media type ${JSON.stringify(mediaType.slice(0, 100))} is not supported. This agent takes ${INPUT_MODES.join(', ')}.`,
    );
  switch (content?.$case) {
    case 'text':
      return { type: 'text', text: content.value };
    case 'data':
      return { type: 'data', data: content.value };
    case undefined:
      return { type: 'data', data: null };
  }
}

function refuseLargeFiles(contents: readonly FileBytes[]): void {
  const total = contents.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total <= MAX_MESSAGE_FILE_BYTES) return;
  throw new ProductError(
    'TOO_LARGE',
    `The files of this message have ${total} bytes; at most ${MAX_MESSAGE_FILE_BYTES} bytes are allowed. Send fewer files, or put them into the workspace and name them.`,
    { facts: { limit: String(MAX_MESSAGE_FILE_BYTES) } },
  );
}

/**
 * Returns the metadata, the extensions and the referenced tasks of a message. They are stored with the message, because
 * the task's history repeats them.
 */
function aboutOf({
  metadata,
  extensions,
  referenceTaskIds,
}: Message): Omit<UserMessage, 'messageId' | 'parts'> {
  return {
    ...(metadata && { metadata }),
    ...(extensions.length > 0 && { extensions }),
    ...(referenceTaskIds.length > 0 && { referenceTaskIds }),
  };
}

function settingsIn({ metadata }: Message): TaskSettings {
  return validateRequestInput(
    taskSettingsSchema,
    metadata?.[TOOL_APPROVAL_EXTENSION] ?? {},
    `The task settings in metadata["${TOOL_APPROVAL_EXTENSION}"] are not valid`,
  );
}

/**
 * Returns the agent command, if a data part names the extension for agent commands. An invalid command is an error, so
 * the model never gets it as a message.
 */
function commandIn(parts: readonly MessagePart[]): CommandCall | undefined {
  const meant = dataIn(parts, (data) => fieldOf(data, 'extension') === AGENT_COMMAND_EXTENSION);
  if (meant.length === 0) return undefined;
  if (parts.length > 1) throw malformed('A command needs its own message: send its data part alone.');
  const { command, args } = parseOrRefuse(commandPartSchema, meant[0], (issues) =>
    malformed(
      `The command part is not valid: ${issues}. Example: {"extension": "${AGENT_COMMAND_EXTENSION}", "command": "checkpoint list", "args": []}.`,
    ),
  );
  return { command, args };
}

function decidingIn(parts: readonly MessagePart[]): DecisionsPart | RevokePart | undefined {
  const meant = dataIn(parts, meansToDecide);
  if (meant.length === 0) return undefined;
  if (meant.length > 1)
    throw invalidDecision('A message can have only one decisions part. Put all decisions into its list.');
  const [data] = meant;
  if (isRecord(data) && Object.hasOwn(data, 'revoke'))
    return parseOrRefuse(revokePartSchema, data, (issues) =>
      invalidDecision(
        `The part that revokes grants is not valid: ${issues}. Its form: {"extension": "${TOOL_APPROVAL_EXTENSION}", "revoke": [grant id …] | "all"}.`,
      ),
    );
  return parseOrRefuse(decisionsPartSchema, data, (issues) =>
    invalidDecision(
      `The decisions part is not valid: ${issues}. Its form: {"extension": "${TOOL_APPROVAL_EXTENSION}", "decisions": [{"callId": …, "shown": …, "decision": "approve" | "deny" | "edit" | "answer"}]}.`,
    ),
  );
}

/** Returns the data of the data parts for which `isMeant` is true. */
function dataIn(parts: readonly MessagePart[], isMeant: (data: unknown) => boolean): unknown[] {
  return parts.flatMap((part) => (part.type === 'data' && isMeant(part.data) ? [part.data] : []));
}

/** The keys of a data part that decides. A data part with one of these keys is an attempt to decide. */
const DECISION_KEYS = ['decision', 'decisions', 'outcome', 'callId'];

function meansToDecide(data: unknown): boolean {
  if (Array.isArray(data)) return data.some(meansToDecide);
  return (
    isRecord(data) &&
    (data['extension'] === TOOL_APPROVAL_EXTENSION || DECISION_KEYS.some((key) => Object.hasOwn(data, key)))
  );
}

function malformed(message: string): ProductError {
  return new ProductError('MALFORMED', message);
}

function invalidDecision(message: string): ProductError {
  return new ProductError('INVALID_DECISION', `${message} Nothing was decided.`);
}
