/**
 * Asks a person before a task starts with settings that a model must not choose alone: another workspace, or no
 * approvals. Until the person allows them, the bridge sends nothing. If the client shows no forms, or with the setting
 * `tool-only`, the bridge refuses another workspace. A task without approvals then starts without this question. A
 * permit is valid for one task, and only for the directory that the form showed.
 */
import { inputRequired } from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';
import { parse } from 'node:path';
import { z } from 'zod';
import { onAbort } from '../../../shared/runtime/abort.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { type WorkspaceCheckResult, checkWorkspace, resolveSymlinks } from '../../agents/check-workspace.ts';
import type { ToolCallContext } from '../tool/tool.ts';
import { allowedCallWorkspaces } from './tool-call-workspaces.ts';
import type { InterimResult } from '../tool/tool-result.ts';
import type { Form } from '../../approvals/form-field.ts';

const KEY = 'start';

export interface RequestedTaskStart {
  task: string;
  placed: WorkspaceCheckResult | undefined;
  /** True if the task runs every tool without asking. */
  unasked: boolean;
}

/** Checks whether the tool call may use its workspace. Returns undefined if the tool call names no workspace. */
export async function checkCallWorkspace(
  call: ToolCallContext,
  workspace: string | undefined,
): Promise<WorkspaceCheckResult | undefined> {
  if (workspace === undefined) return undefined;
  return checkWorkspace(workspace, await allowedCallWorkspaces(call), () => call.client.roots(call.signal));
}

/**
 * Asks the person for permission, if the settings of the tool call need it.
 * @returns undefined if the task may start; otherwise the form, for a client that shows it and then repeats the tool
 * call
 * @throws ProductError FORBIDDEN if another workspace cannot be shown in a form, if the directory is too long for the
 * form, or if the person does not accept. Nothing is sent then.
 */
export async function askStartPermission(
  call: ToolCallContext,
  wanted: RequestedTaskStart,
): Promise<InterimResult | undefined> {
  const { client, bridge } = call;
  const { placed, unasked } = wanted;
  const outside = placed?.type === 'outside' ? placed.path : undefined;
  if (outside === undefined && !unasked) return undefined;
  const { own } = await allowedCallWorkspaces(call);
  if (client.forms === 'none' || bridge.rules.approvals === 'tool-only') {
    if (outside === undefined) return undefined;
    throw workspaceNotAllowedError(outside, own);
  }
  const directory = placed?.path ?? (await resolveSymlinks(own));
  // The module is imported only when a form is needed. Its code for the width of text takes long to load.
  const { buildTaskStartForm } = await import('./task-start-form.ts');
  const form = buildTaskStartForm(wanted, {
    outside: outside !== undefined,
    directory,
    columns: bridge.formHistory.columns,
  });
  // D5: a person can approve only what is shown in full. There is no form if the path is too long to show. The start is
  // refused then.
  if (form === undefined)
    throw outside === undefined ? directoryTooLongError(directory) : workspaceNotAllowedError(outside, own);
  if (client.forms === 'rounds' && client.permit === undefined) return permitRequest(call, form, directory);
  const answer = client.permit === undefined ? await showForm(call, form) : toFormAnswer(client.permit);
  const refused =
    answerProblem(answer, bridge.rules.fastestAnswerMs) ?? (await permitProblem(call, directory));
  if (refused !== undefined) throw startRefusedError(refused, outside);
  return undefined;
}

/** Returns the form as the result of the tool call. The client shows it, and then repeats the tool call. */
async function permitRequest(call: ToolCallContext, form: Form, directory: string): Promise<InterimResult> {
  const permit = { id: randomUUID(), directory, askedAt: Date.now() };
  const requestState = await call.signed({ about: 'permit', ...permit });
  const inputRequests = { [KEY]: { method: 'elicitation/create' as const, params: form } };
  return inputRequired({ inputRequests, requestState });
}

const ASKING = 'Delegate it without autoExecute. The person then decides each action.';

/** Uses up the person's permit. Returns why the permit is not valid. Returns undefined if it is valid. */
async function permitProblem(
  { client: { permit }, bridge }: ToolCallContext,
  directory: string,
): Promise<string | undefined> {
  // The path is resolved again, because a symbolic link may have a new target since the form was shown.
  const now = await resolveSymlinks(directory);
  if (now !== directory || (permit !== undefined && permit.directory !== directory))
    return 'since then the directory leads to another place.';
  if (permit !== undefined && !bridge.usedPermits.use(permit.id))
    return 'they allowed one task, and it was started with this answer before.';
  return undefined;
}

interface FormAnswer {
  response: unknown;
  /** The time from showing the form to its answer, in milliseconds. */
  afterMs: number;
}

async function showForm({ client, signal }: ToolCallContext, form: Form): Promise<FormAnswer> {
  const since = performance.now();
  const open = new AbortController();
  const stopWatching = onAbort(signal, () => open.abort(signal.reason));
  try {
    return { response: await client.elicit(form, open.signal), afterMs: performance.now() - since };
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ProductError(
      'FORBIDDEN',
      `The form for the person could not be shown: ${errorMessageOf(error)}. Nothing was sent.`,
      { cause: error },
    );
  } finally {
    stopWatching();
  }
}

function toFormAnswer({ askedAt, responses }: NonNullable<ToolCallContext['client']['permit']>): FormAnswer {
  return { response: responses[KEY], afterMs: Date.now() - askedAt };
}

const formAnswer = z.looseObject({ action: z.enum(['accept', 'decline', 'cancel']) });

/** Returns why the answer gives no permission. Returns undefined if the person accepted. */
function answerProblem({ response, afterMs }: FormAnswer, fastestMs: number): string | undefined {
  const action = formAnswer.safeParse(response).data?.action;
  if (action === undefined) return 'the answer was not understood.';
  if (action === 'cancel') return 'the form was closed without an answer.';
  if (action === 'decline') return 'they declined.';
  return afterMs < fastestMs ? 'the answer came faster than a person reads, and does not count.' : undefined;
}

function startRefusedError(why: string, outside: string | undefined): ProductError {
  const what = outside === undefined ? 'run without asking' : `work in ${visibleLine(outside)}`;
  return new ProductError(
    'FORBIDDEN',
    `The person was asked in a form whether the task may ${what}: ${why} Nothing was sent. ${outside === undefined ? ASKING : howToAllow(outside)}`,
    { facts: outside === undefined ? {} : { workspace: outside } },
  );
}

function workspaceNotAllowedError(path: string, own: string): ProductError {
  return new ProductError(
    'FORBIDDEN',
    `A call may name ${parse(own).root === own ? 'an open folder' : own} or a directory below it as the workspace, and ${visibleLine(path)} is outside. Nothing was sent. ${howToAllow(path)}`,
    { facts: { workspace: path } },
  );
}

function directoryTooLongError(directory: string): ProductError {
  return new ProductError(
    'FORBIDDEN',
    `The directory ${visibleLine(directory)} does not fit into the form that asks the person, so they were not asked. Nothing was sent. ${ASKING}`,
  );
}

function howToAllow(path: string): string {
  return `To allow it for every call, the operator starts the bridge with --allow-workspace ${JSON.stringify(visibleLine(path))}, or lists it as "allowWorkspace" in the configuration file.`;
}
