/** A permission an ACP agent has asked for, and how its options read as decisions. */
import type {
  PermissionOption,
  RequestPermissionOutcome,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { inputHash } from '../../../shared/protocol/input-hash.ts';
import { oneLine } from '../../../shared/text/one-line.ts';
import { pathInWorkspace } from './path-in-workspace.ts';
import { diffsOf, textOf } from './tool-call.ts';

/** What a person is shown of a permission, and what their decision binds to (D2). */
export const permissionInput = z.strictObject({
  title: z.string(),
  /** What the agent itself calls the tool. */
  name: z.string().optional(),
  rawInput: z.unknown().optional(),
  diffs: z
    .array(z.strictObject({ path: z.string(), oldText: z.string().nullable(), newText: z.string() }))
    .optional(),
  text: z.string().optional(),
  paths: z.array(z.string()).optional(),
  /** The agent can only be given leave for good: it will not ask again for what it holds to be alike. */
  forGood: z.literal(true).optional(),
});
export type PermissionInput = z.infer<typeof permissionInput>;

/** A request for permission that the agent holds open. */
export interface Permission {
  /** The agent's id of the tool call. */
  readonly toolCallId: string;
  readonly tool: ToolKind;
  readonly input: PermissionInput;
  /** The hash of `input`, as a call of it has. */
  readonly hash: string;
  readonly options: readonly PermissionOption[];
  /** Answers the agent, once; later answers are none. */
  readonly answer: (outcome: RequestPermissionOutcome) => void;
}

/** @param known what was said of the tool call before, with what the request adds to it. */
export function permissionOf(
  known: ToolCallUpdate,
  { options, answer }: Pick<Permission, 'options' | 'answer'>,
  workspace: string,
): Permission {
  const diffs = diffsOf(known);
  const text = textOf(known);
  const input = permissionInput.parse({
    title: oneLine(known.title ?? known.name ?? known.kind ?? 'Go on', 200),
    ...(known.name && { name: known.name }),
    ...(known.rawInput !== undefined && known.rawInput !== null && { rawInput: known.rawInput }),
    ...(diffs.length > 0 && { diffs }),
    ...(text !== '' && { text }),
    ...(known.locations?.length && { paths: known.locations.map(({ path }) => path) }),
    ...(!has(options, 'allow_once') && has(options, 'allow_always') && { forGood: true }),
  });
  return {
    toolCallId: known.toolCallId,
    tool: toolOf(known.kind ?? 'other', placesOf(input, workspace)),
    input,
    hash: inputHash(input),
    options,
    answer,
  };
}

/** The files it speaks of: those of the workspace relative to it, others by their absolute path. */
export function placesOf({ diffs = [], paths = [] }: PermissionInput, workspace: string): string[] {
  const all = [...diffs.map(({ path }) => path), ...paths].map((path) => pathInWorkspace(workspace, path));
  return [...new Set(all)];
}

/**
 * Whoever accepts edits accepts those of the workspace, as they are shown. What is changed elsewhere, or who knows where, is
 * one of the other things.
 */
function toolOf(kind: ToolKind, places: readonly string[]): ToolKind {
  const changes = kind === 'edit' || kind === 'delete' || kind === 'move';
  return changes && (places.length === 0 || places.some((place) => isAbsolute(place))) ? 'other' : kind;
}

/**
 * Leave for this once, also where a person has trusted the tool, the agent or everything: that trust is the task's, is
 * looked up for each call, and ends with the task (R12). What an agent is allowed for good it would no longer ask for, and
 * nobody would see or could revoke it. @returns undefined where the agent offers no leave.
 */
export function permissionOutcome(
  options: readonly PermissionOption[],
): RequestPermissionOutcome | undefined {
  return select(options, 'allow_once') ?? select(options, 'allow_always');
}

/** A refusal of this one request where the agent offers that, or else as its turn's end. */
export function refusal(options: readonly PermissionOption[]): RequestPermissionOutcome {
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
