/**
 * Represents an ACP agent's permission requests as tools, one per ACP tool kind. A call of such a tool approves the
 * request and waits for the agent's result. The agent does the work.
 *
 * - E2: an approval is sent once, after `tool.started` is durable, and only for the decided input.
 * - A restarted agent gets the decision in its prompt. If the agent requests the same permission again, the server
 *   approves it.
 * - No tool kind is read-only. A person decides each permission request.
 */
import type { ToolKind } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { Preview, SideEffect } from '../../../shared/protocol/tool-approval.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { defineTool } from '../../tools/builtin/define-tool.ts';
import type { CallTargets, PreviewWithBasis, Tool, ToolContext, ToolRun } from '../../tools/tool.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import { callTargetsOfUrl } from '../../tools/web/allowed-hosts.ts';
import { inputChangedError } from '../../tools/workspace/replace-file.ts';
import { acpAgentName } from './agent-program.ts';
import { basisOfFiles, acpDiffsText, readCurrentFiles, type CurrentFile } from './file-changes.ts';
import type { LiveAcpAgents } from './live-agents.ts';
import { permissionInputSchema, acpPermissionFiles, type AcpPermissionInput } from './permission.ts';
import { asRelativePath } from './read-tool-call.ts';
import { runPermittedAcpCall } from './run-permitted.ts';

/**
 * The maximum duration of a permitted call in milliseconds. The setting `toolTimeout` usually ends the call earlier.
 * With the value `never`, this limit applies.
 */
const NO_LIMIT_MS = 24 * 60 * 60 * 1000;

const KINDS: Record<ToolKind, { sideEffect: SideEffect; does: string }> = {
  read: { sideEffect: 'other', does: 'reads' },
  edit: { sideEffect: 'files', does: 'changes a file' },
  delete: { sideEffect: 'files', does: 'deletes a file' },
  move: { sideEffect: 'files', does: 'moves a file' },
  search: { sideEffect: 'other', does: 'searches' },
  execute: { sideEffect: 'command', does: 'runs a command' },
  think: { sideEffect: 'other', does: 'thinks' },
  fetch: { sideEffect: 'network', does: 'fetches from the network' },
  switch_mode: { sideEffect: 'other', does: 'switches to another mode' },
  other: { sideEffect: 'other', does: 'does something' },
};

/** The kinds of ACP tool calls that change the files in their `locations`, even if the call has no diff. */
const FILE_CHANGES: readonly ToolKind[] = ['edit', 'delete', 'move'];
const CHANGES_FILES: ReadonlySet<string> = new Set(FILE_CHANGES);

export function createPermissionTools(agents: LiveAcpAgents): Tool[] {
  const name = acpAgentName(agents.options.agent);
  return Object.entries(KINDS).map(([kind, { sideEffect, does }]) =>
    defineTool({
      name: kind,
      description: `The agent ${name} ${does}, as it requested.`,
      source: { type: 'acp-agent', agent: name },
      sideEffect,
      schema: permissionInputSchema,
      timeoutMs: () => NO_LIMIT_MS,
      title: ({ title, forGood }) =>
        `${oneLineExcerpt(title, 200)}${forGood ? ' (the agent offers only a permanent permission)' : ''}`,
      reach: (input) => reachOf(kind, input),
      show: (input, context) => previewPermission(kind, input, context),
      run: (input, run) => runPermittedAcpCall(run, agents, () => checkBasis(kind, input, run)),
    }),
  );
}

/** The kinds of ACP tool calls that affect nothing but the files that they name. */
const ONLY_FILES: ReadonlySet<string> = new Set<ToolKind>(['read', 'search', ...FILE_CHANGES]);

/** Returns the paths, command and hosts that the agent names, for the policy rules. */
function reachOf(kind: string, input: AcpPermissionInput): CallTargets {
  const paths = [...(input.diffs ?? []).map(({ path }) => path), ...(input.paths ?? [])];
  const targets = { ...(paths.length > 0 && { paths }) };
  if (kind === 'execute') {
    const { more, ...own } = commandOf(input);
    return { ...targets, ...own, ...(more && { incomplete: more }) };
  }
  const fetched = kind === 'fetch' ? urlIn(input) : undefined;
  if (fetched === undefined) {
    const found = CHANGES_FILES.has(kind) ? undefined : commandIn(input.rawInput);
    if (found === undefined) return { ...targets, ...(!ONLY_FILES.has(kind) && { incomplete: true }) };
    const { more: _, ...own } = found;
    return { ...targets, ...own, incomplete: true };
  }
  return { ...targets, ...callTargetsOfUrl(fetched.url), ...(fetched.more && { incomplete: fetched.more }) };
}

async function previewPermission(
  kind: string,
  input: AcpPermissionInput,
  { workspace }: ToolContext,
): Promise<PreviewWithBasis> {
  const { diffs = [], rawInput } = input;
  const { root } = workspace;
  const files = await filesOf(kind, input, workspace);
  const basis = files && basisOfFiles(files);
  if (files && diffs.length > 0) {
    const places = new Set(diffs.map(({ path }) => asRelativePath(root, path)));
    const diff = acpDiffsText(diffs, { files, root, rawInput });
    // D5: the preview shows the command or URL as well as the diff.
    if (kind === 'execute' || kind === 'fetch' || (!CHANGES_FILES.has(kind) && commandIn(rawInput))) {
      const change = { files: [...places], diff: diff.split('\n') };
      return { preview: { type: 'json', value: { ...wholeInput(input), change } }, basis };
    }
    return { preview: { type: 'diff', path: [...places].join(', '), diff }, basis };
  }
  return { preview: withoutDiff(kind, input, root), basis };
}

/** Reads the files that a permission request changes. Returns null if the request names no file. */
async function filesOf(
  kind: string,
  input: AcpPermissionInput,
  workspace: Workspace,
): Promise<ReadonlyMap<string, CurrentFile> | null> {
  const changes = (input.diffs ?? []).length > 0 || CHANGES_FILES.has(kind);
  const places = changes ? acpPermissionFiles(input, workspace.root) : [];
  return places.length === 0 ? null : readCurrentFiles(places, workspace);
}

/**
 * D2: refuses the tool call if a file has changed since the person saw its diff.
 * @throws ProductError INPUT_CHANGED
 */
async function checkBasis(
  kind: string,
  input: AcpPermissionInput,
  { workspace, basis }: ToolRun,
): Promise<void> {
  if (basis === null) return;
  const files = await filesOf(kind, input, workspace);
  if (files && basisOfFiles(files) !== basis) throw inputChangedError([...files.keys()].join(', '));
}

const words = z.array(z.string());
const commandInput = z.looseObject({
  command: z.union([z.string(), words.transform((all) => all.join(' '))]),
  args: z.unknown().optional(),
  cwd: z.unknown().optional(),
});
const commandArgs = words.nullish();
const commandDirectory = z.string().nullish();
const nothing = z.strictObject({}).optional();
const urlInput = z.looseObject({ url: z.string() });

/** The input fields that do not change the effect. A short preview may omit them. */
const HARMLESS_FIELDS: ReadonlySet<string> = new Set(['description', 'timeout']);

const hasMore = (rest: object): boolean => Object.keys(rest).some((field) => !HARMLESS_FIELDS.has(field));

function withoutDiff(kind: string, input: AcpPermissionInput, root: string): Preview {
  const fetched = kind === 'fetch' ? urlIn(input) : undefined;
  if (fetched?.more === false) return { type: 'url', url: fetched.url };
  if (kind !== 'execute') return { type: 'json', value: wholeInput(input) };
  const { command, cwd = root, more } = commandOf(input);
  return more ? { type: 'json', value: wholeInput(input) } : { type: 'command', command, cwd };
}

function wholeInput({ title, text, paths, rawInput }: AcpPermissionInput): Record<string, unknown> {
  return {
    title,
    ...(text && { text }),
    ...(paths && { paths }),
    ...(rawInput !== undefined && { input: rawInput }),
  };
}

interface OwnCommand {
  command: string;
  cwd?: string;
  /** True if the input may have a further effect that `command` and `cwd` do not show. */
  more: boolean;
}

/** Returns the command line. Some agents send the command only in the title. */
function commandOf({ rawInput, title }: AcpPermissionInput): OwnCommand {
  return commandIn(rawInput) ?? { command: title, more: !nothing.safeParse(rawInput).success };
}

function commandIn(rawInput: unknown): OwnCommand | undefined {
  const parsed = commandInput.safeParse(rawInput);
  if (!parsed.success) return undefined;
  const { command, args, cwd, ...rest } = parsed.data;
  // Only the agent knows how it reads a field of another type. Such a field may have an effect, so `more` is then true.
  const listed = commandArgs.safeParse(args);
  const place = commandDirectory.safeParse(cwd);
  return {
    command: [command, ...(listed.data ?? [])].join(' '),
    ...(typeof place.data === 'string' && { cwd: place.data }),
    more: hasMore(rest) || !listed.success || !place.success,
  };
}

function urlIn({ rawInput }: AcpPermissionInput): { url: string; more: boolean } | undefined {
  const input = urlInput.safeParse(rawInput);
  if (!input.success) return undefined;
  const { url, ...rest } = input.data;
  return { url, more: hasMore(rest) };
}
