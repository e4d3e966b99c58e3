/**
 * Reads a tool call of gemini-cli's a2a-server from a data part (`toolStatusMessage` in its `agent/task.ts`). The data
 * is `{request, status, confirmationDetails?, liveOutput?, response?, tool?}`. Pure.
 */
import { z } from 'zod';
import { shownCode } from '../../shared/protocol/shown-code.ts';
import type { ToolCallEvent, PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { AgentProposal } from './unbound-proposal.ts';

const confirmationDetails = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('edit'),
    fileName: z.string().default(''),
    filePath: z.string().default(''),
    fileDiff: z.string().default(''),
    /** The old content of the file. Null or '' if the file does not exist. */
    originalContent: z.string().nullish(),
    newContent: z.string().optional(),
  }),
  z.looseObject({ type: z.literal('exec'), command: z.string() }),
  z.looseObject({ type: z.literal('mcp'), serverName: z.string(), toolName: z.string().default('') }),
  z.looseObject({
    type: z.literal('info'),
    prompt: z.string().default(''),
    urls: z.array(z.string()).optional(),
  }),
  // Later versions of the agent have other kinds, such as `sandbox_expansion` and `ask_user`. The bridge shows them as
  // JSON. A person can approve or deny them.
]);
type ConfirmationDetails = z.infer<typeof confirmationDetails>;

const toolCall = z.object({
  request: z.object({
    callId: z.string().min(1),
    name: z.string(),
    args: z.record(z.string(), z.unknown()).default({}),
  }),
  status: z.string(),
  confirmationDetails: z.unknown().optional(),
  liveOutput: z.unknown().optional(),
  response: z
    .looseObject({
      resultDisplay: z.unknown().optional(),
      error: z.looseObject({ message: z.string() }).optional(),
    })
    .optional(),
});
export type GeminiToolCall = z.infer<typeof toolCall>;

/**
 * The maximum length of a tool's result in characters. It can be short, because the agent's answer describes the
 * result.
 */
const MAX_SUMMARY_CHARACTERS = 2_000;

/** Reads a tool call from the data of a part. Returns undefined if the data is not a tool call. */
export function geminiToolCallIn(data: unknown): GeminiToolCall | undefined {
  return toolCall.safeParse(data).data;
}

/** Parses what the agent wants to have confirmed. Returns undefined for kinds that this version does not know. */
function detailsOf(call: GeminiToolCall): ConfirmationDetails | undefined {
  return confirmationDetails.safeParse(call.confirmationDetails).data;
}

/** Returns true if the call continues without a decision. */
export function isGeminiCallUnderway({ status }: GeminiToolCall): boolean {
  return status === 'validating' || status === 'scheduled' || status === 'executing';
}

export function isAwaitingDecision({ status }: GeminiToolCall): boolean {
  return status === 'awaiting_approval';
}

/** Converts the status of a call to an activity. Returns null for a status that this version does not know. */
export function toolCallEventOf(call: GeminiToolCall): ToolCallEvent | null {
  const { callId, name } = call.request;
  const about = { callId, tool: name, title: describeCall(call).title };
  switch (call.status) {
    case 'awaiting_approval':
      return { type: 'tool.requested', ...about, asks: true };
    case 'validating':
    case 'scheduled':
      return { type: 'tool.requested', ...about, asks: false };
    case 'executing':
      // The agent has no ids for tool executions, so the id of the call is used.
      return { type: 'tool.started', ...about, toolId: callId };
    case 'success':
      return { type: 'tool.finished', ...about, toolId: null, outcome: 'ok', summary: summaryOf(call) };
    case 'error':
      return { type: 'tool.finished', ...about, toolId: null, outcome: 'error', summary: summaryOf(call) };
    case 'cancelled':
      // The agent reports the same status for denied calls and for aborted tool executions.
      return { type: 'tool.finished', ...about, toolId: null, outcome: 'stopped', summary: summaryOf(call) };
    default:
      return null;
  }
}

/**
 * Converts the call to a pending action. D2: a decision is valid only for what the person saw. This agent sends no code
 * for what it shows, so the bridge computes the code.
 */
export function pendingActionOf(call: GeminiToolCall): PendingAction {
  const { callId, name, args } = call.request;
  return {
    callId,
    tool: name,
    input: args,
    shown: codeOf(call),
    ...describeCall(call),
    reason: 'approval',
    expiresAt: null,
    // This agent would forget the call after an edit. A client could then only cancel the call. So `edit` is not
    // offered.
    decisions: ['approve', 'deny'],
  };
}

function codeOf({ request: { callId, name, args }, confirmationDetails: details }: GeminiToolCall): string {
  return shownCode(callId, name, args, details ?? null);
}

const replaceArgs = z.object({ old_string: z.string().min(1), new_string: z.string() });

/**
 * Returns the change that the agent proposes. Before the bridge sends an approval, it compares the file with the old
 * content in the proposal.
 */
export function proposalOf(call: GeminiToolCall): AgentProposal {
  const { name, args } = call.request;
  const code = codeOf(call);
  const details = detailsOf(call);
  if (details?.type !== 'edit' || details.filePath === '' || details.newContent === undefined)
    return { code, file: null };
  const replaces = name === 'replace' ? replaceArgs.safeParse(args).data : undefined;
  return {
    code,
    file: {
      path: details.filePath,
      before: details.originalContent ?? '',
      after: details.newContent,
      part: replaces === undefined ? null : { from: replaces.old_string, to: replaces.new_string },
    },
  };
}

const BUILT_IN = { type: 'built-in' } as const;

/**
 * Describes a call by what the agent wants to have confirmed. `scopes` are the scopes of a decision that this agent can
 * apply exactly. Any other scope would grant more than the person decided (see `gemini-outcome-of-decision.ts`).
 */
function describeCall(
  call: GeminiToolCall,
): Pick<PendingAction, 'title' | 'sideEffect' | 'source' | 'preview' | 'scopes'> {
  const { name, args } = call.request;
  const details = detailsOf(call);
  switch (details?.type) {
    case 'edit': {
      const { fileName, filePath, fileDiff } = details;
      return {
        title: `${name} ${fileName === '' ? filePath : fileName}`.trim(),
        sideEffect: 'files',
        source: BUILT_IN,
        preview: { type: 'diff', path: filePath, diff: fileDiff },
        scopes: ['once', 'always'],
      };
    }
    case 'exec': {
      const { command } = details;
      const directory = args['dir_path'] ?? args['directory'];
      const cwd = typeof directory === 'string' && directory !== '' ? directory : 'the workspace';
      return {
        title: firstLine(command),
        sideEffect: 'command',
        source: BUILT_IN,
        preview: { type: 'command', command, cwd },
        scopes: ['once', 'tool', 'always'],
      };
    }
    case 'mcp': {
      const { toolName, serverName } = details;
      return {
        title: `${toolName === '' ? name : toolName} of MCP server ${serverName}`,
        sideEffect: 'other',
        source: { type: 'mcp-server', server: serverName },
        preview: { type: 'json', value: args },
        scopes: ['once', 'tool', 'server', 'always'],
      };
    }
    case 'info': {
      const { prompt, urls = [] } = details;
      const [url, ...others] = urls;
      const only = url !== undefined && others.length === 0;
      return {
        title: prompt === '' ? name : firstLine(prompt),
        sideEffect: 'network',
        source: BUILT_IN,
        preview: only ? { type: 'url', url } : { type: 'json', value: { prompt, urls } },
        scopes: ['once', 'always'],
      };
    }
    case undefined:
      return {
        title: titleWithout(call),
        sideEffect: 'other',
        source: BUILT_IN,
        preview: { type: 'json', value: call.confirmationDetails ?? args },
        scopes: ['once'],
      };
  }
}

/**
 * Builds the title of a call from its request alone. Only a waiting call has confirmation details, but the title must
 * be the same after the decision.
 */
function titleWithout({ request: { name, args } }: GeminiToolCall): string {
  const word = (key: string): string => (typeof args[key] === 'string' ? args[key] : '');
  const command = word('command');
  if (command !== '') return firstLine(command);
  const path = word('file_path') || word('absolute_path') || word('path');
  return `${name} ${path.split(/[/\\]/).at(-1) ?? ''}`.trim();
}

function summaryOf({ response, liveOutput }: GeminiToolCall): string {
  const shown = response?.error?.message ?? response?.resultDisplay ?? liveOutput;
  if (typeof shown === 'string') return keepTextEnd(shown);
  // The result of an edit would only repeat the diff that the person has seen.
  return '';
}

/** Shortens a long text to its end, because the result is at the end. */
export function keepTextEnd(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > MAX_SUMMARY_CHARACTERS ? `… ${trimmed.slice(-MAX_SUMMARY_CHARACTERS)}` : trimmed;
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
