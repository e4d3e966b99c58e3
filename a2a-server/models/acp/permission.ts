/** Converts an ACP permission request to a call input, and a decision to one of its options. */
import type {
  PermissionOption,
  RequestPermissionOutcome,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { inputHash } from '../../../shared/protocol/shown-code.ts';
import { pathInWorkspace } from './path-in-workspace.ts';
import { toolCallDiffs, toolCallText } from './acp-tool-call.ts';

/** The fields of a permission request. The person sees them, and the decision is valid only for them (D2). */
export const permissionInputSchema = z.strictObject({
  /** The agent's complete title, because only the title may contain the command line. */
  title: z.string(),
  /** The agent's name for the tool. */
  name: z.string().optional(),
  rawInput: z.unknown().optional(),
  diffs: z
    .array(z.strictObject({ path: z.string(), oldText: z.string().nullable(), newText: z.string() }))
    .optional(),
  text: z.string().optional(),
  paths: z.array(z.string()).optional(),
  /** Set if the agent offers only a permanent approval. Then it will not ask again for similar calls. */
  forGood: z.literal(true).optional(),
});
export type PermissionInput = z.infer<typeof permissionInputSchema>;

/** An open permission request. */
export interface Permission {
  /** The agent's id of the tool call. */
  readonly toolCallId: string;
  readonly tool: ToolKind;
  readonly input: PermissionInput;
  /** The hash of `input`, equal to the call's `inputHash`. */
  readonly hash: string;
  readonly options: readonly PermissionOption[];
  /** Answers the agent. Only the first call has an effect. */
  readonly answer: (outcome: RequestPermissionOutcome) => void;
}

/** @param known the merged state of the tool call, including the request */
export function permissionOf(
  known: ToolCallUpdate,
  { options, answer }: Pick<Permission, 'options' | 'answer'>,
  workspace: string,
): Permission {
  const diffs = toolCallDiffs(known);
  const text = toolCallText(known);
  const input = permissionInputSchema.parse({
    title: known.title ?? known.name ?? known.kind ?? 'Go on',
    ...(known.name && { name: known.name }),
    ...(known.rawInput !== undefined && known.rawInput !== null && { rawInput: known.rawInput }),
    ...(diffs.length > 0 && { diffs }),
    ...(text !== '' && { text }),
    ...(known.locations?.length && { paths: known.locations.map(({ path }) => path) }),
    ...(!has(options, 'allow_once') && has(options, 'allow_always') && { forGood: true }),
  });
  return {
    toolCallId: known.toolCallId,
    tool: toolOf(known.kind ?? 'other', permissionFiles(input, workspace)),
    input,
    hash: inputHash(input),
    options,
    answer,
  };
}

/** Returns the files of the permission request. Paths in the workspace are relative. Other paths are absolute. */
export function permissionFiles({ diffs = [], paths = [] }: PermissionInput, workspace: string): string[] {
  const all = [...diffs.map(({ path }) => path), ...paths].map((path) => pathInWorkspace(workspace, path));
  return [...new Set(all)];
}

/**
 * Returns the tool kind for policy. The mode `accept-edits` covers only named files in the workspace. So a change
 * outside of the workspace, or without a path, gets the kind `other`.
 */
function toolOf(kind: ToolKind, places: readonly string[]): ToolKind {
  const changes = kind === 'edit' || kind === 'delete' || kind === 'move';
  return changes && (places.length === 0 || places.some((place) => isAbsolute(place))) ? 'other' : kind;
}

/**
 * Returns the outcome that approves this request once, even if the person trusts the tool or the agent. The task stores
 * that trust as a grant, checks it for each call, and ends it with the task (R12). After a permanent approval the agent
 * would not ask again, and no person could see or revoke the trust.
 * @returns undefined if the agent offers no approval
 */
export function approveOutcome(options: readonly PermissionOption[]): RequestPermissionOutcome | undefined {
  return select(options, 'allow_once') ?? select(options, 'allow_always');
}

/**
 * Returns the outcome that rejects this request. If the agent offers no rejection, returns the outcome that cancels its
 * turn.
 */
export function rejectOutcome(options: readonly PermissionOption[]): RequestPermissionOutcome {
  return select(options, 'reject_once') ?? select(options, 'reject_always') ?? { outcome: 'cancelled' };
}

function has(options: readonly PermissionOption[], kind: PermissionOption['kind']): boolean {
  return options.some((option) => option.kind === kind);
}

function select(
  options: readonly PermissionOption[],
  kind: PermissionOption['kind'],
): RequestPermissionOutcome | undefined {
  const option = options.find((offered) => offered.kind === kind);
  return option && { outcome: 'selected', optionId: option.optionId };
}
