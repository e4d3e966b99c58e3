/** Converts an ACP permission request to the input of a tool call, and a decision to one of the request's options. */
import type {
  PermissionOption,
  RequestPermissionOutcome,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { inputHash } from '../../../shared/protocol/shown-code.ts';
import { asRelativePath, toolCallDiffs, toolCallText } from './read-tool-call.ts';

/** The input of a permission call. The person sees all of it. D2: the decision is valid only for this input. */
export const permissionInputSchema = z.strictObject({
  /** The agent's whole title. With some agents, only the title contains the command. */
  title: z.string(),
  name: z.string().optional(),
  rawInput: z.unknown().optional(),
  diffs: z
    .array(z.strictObject({ path: z.string(), oldText: z.string().nullable(), newText: z.string() }))
    .optional(),
  text: z.string().optional(),
  paths: z.array(z.string()).optional(),
  /**
   * True if the agent offers only a permanent approval. After such an approval, the agent requests no permission for
   * similar calls.
   */
  forGood: z.literal(true).optional(),
});
export type AcpPermissionInput = z.infer<typeof permissionInputSchema>;

export interface PendingAcpPermission {
  readonly toolCallId: string;
  readonly tool: ToolKind;
  readonly input: AcpPermissionInput;
  /** A hash of the request. It equals the `inputHash` of the tool call for this request. */
  readonly hash: string;
  readonly options: readonly PermissionOption[];
  /** Sends the outcome to the agent. Only the first call has an effect. */
  readonly answer: (outcome: RequestPermissionOutcome) => void;
}

/** @param known the tool call with all its updates and the request merged */
export function toPendingAcpPermission(
  known: ToolCallUpdate,
  { options, answer }: Pick<PendingAcpPermission, 'options' | 'answer'>,
  workspace: string,
): PendingAcpPermission {
  const diffs = toolCallDiffs(known);
  const text = toolCallText(known);
  const input = permissionInputSchema.parse({
    title: known.title ?? known.name ?? known.kind ?? 'Go on',
    ...(known.name && { name: known.name }),
    ...(known.rawInput !== undefined && known.rawInput !== null && { rawInput: known.rawInput }),
    ...(diffs.length > 0 && { diffs }),
    ...(text !== '' && { text }),
    ...(known.locations?.length && { paths: known.locations.map(({ path }) => path) }),
    ...(!hasOption(options, 'allow_once') && hasOption(options, 'allow_always') && { forGood: true }),
  });
  return {
    toolCallId: known.toolCallId,
    tool: toolOf(known.kind ?? 'other', acpPermissionFiles(input, workspace)),
    input,
    hash: inputHash(input),
    options,
    answer,
  };
}

/** Returns the files of the permission request. A path in the workspace is relative. Any other path is absolute. */
export function acpPermissionFiles(
  { diffs = [], paths = [] }: AcpPermissionInput,
  workspace: string,
): string[] {
  const all = [...diffs.map(({ path }) => path), ...paths].map((path) => asRelativePath(workspace, path));
  return [...new Set(all)];
}

/**
 * Returns the tool kind for the policy. The mode `accept-edits` covers only named files in the workspace. A change
 * without a path, or of a file outside the workspace, therefore gets the kind `other`.
 */
function toolOf(kind: ToolKind, places: readonly string[]): ToolKind {
  const changes = kind === 'edit' || kind === 'delete' || kind === 'move';
  return changes && (places.length === 0 || places.some((place) => isAbsolute(place))) ? 'other' : kind;
}

/**
 * Returns the outcome that approves this one request, or undefined if the agent offers no approval. A one-time approval
 * is preferred even if the person trusts the agent permanently. The task stores that trust as a grant, which a person
 * can see and revoke. After a permanent approval, the agent would send no further requests.
 * @param onlyOnce true if a permanent approval is not allowed
 */
export function acpAllowOutcome(
  options: readonly PermissionOption[],
  { onlyOnce = false } = {},
): RequestPermissionOutcome | undefined {
  return select(options, 'allow_once') ?? (onlyOnce ? undefined : select(options, 'allow_always'));
}

/**
 * Returns the outcome that rejects this request. If the agent offers no rejection, the outcome cancels the agent's
 * turn.
 */
export function acpRejectOutcome(options: readonly PermissionOption[]): RequestPermissionOutcome {
  return select(options, 'reject_once') ?? select(options, 'reject_always') ?? { outcome: 'cancelled' };
}

function hasOption(options: readonly PermissionOption[], kind: PermissionOption['kind']): boolean {
  return options.some((option) => option.kind === kind);
}

function select(
  options: readonly PermissionOption[],
  kind: PermissionOption['kind'],
): RequestPermissionOutcome | undefined {
  const option = options.find((offered) => offered.kind === kind);
  return option && { outcome: 'selected', optionId: option.optionId };
}
