/**
 * Asks a person in a form before a task starts with settings that the call may not choose itself. These are a
 * workspace outside the bridge's directory, or running without asking. The permission is for one task, and nothing
 * is sent before it.
 */
import { inputRequired } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { onAbort } from '../../../shared/runtime/abort.ts';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { type WorkspaceCheck, checkWorkspace } from '../../agents/allowed-workspaces.ts';
import { titleOf } from '../../sessions/task-title.ts';
import type { ToolCall } from '../tool/tool.ts';
import type { InterimResult } from '../tool/tool-result.ts';
import type { Form } from '../../approvals/form-field.ts';

/** The form's key among the forms of a round. */
const KEY = 'start';
/** A longer path does not fit into the rows that every client shows in full. */
const LONGEST_PATH = 150;

export interface Wanted {
  /** What the task is to do, in the caller's words. */
  task: string;
  /** Undefined when the call names no workspace. */
  placed: WorkspaceCheck | undefined;
  /** The task runs every tool without asking. */
  unasked: boolean;
}

/** Where the workspace of the call lies; undefined when the call names none. */
export async function placeWorkspace(
  { client, bridge, signal }: ToolCall,
  workspace: string | undefined,
): Promise<WorkspaceCheck | undefined> {
  if (workspace === undefined) return undefined;
  return checkWorkspace(workspace, bridge.workspaces, () => client.roots(signal));
}

/**
 * @returns the form, for a client that shows it and then repeats the call; undefined when the task may start
 * @throws ProductError FORBIDDEN when no form can be shown or the person does not accept it; nothing was sent then
 */
export async function permitStart(call: ToolCall, wanted: Wanted): Promise<InterimResult | undefined> {
  const { client, bridge } = call;
  const { own } = bridge.workspaces;
  const outside = wanted.placed?.type === 'outside' ? wanted.placed.path : undefined;
  if (outside === undefined && !wanted.unasked) return undefined;
  const showsForms = client.forms !== 'none' && bridge.rules.approvals !== 'tool-only';
  if (outside !== undefined && (!showsForms || visibleLine(outside).length > LONGEST_PATH))
    throw notAllowed(outside, own);
  if (!showsForms) return undefined;
  const form = startForm(wanted, { outside, own });
  if (client.forms === 'rounds' && client.permit === undefined) {
    const requestState = await call.signed({ about: 'permit', askedAt: Date.now() });
    const inputRequests = { [KEY]: { method: 'elicitation/create' as const, params: form } };
    return inputRequired({ inputRequests, requestState });
  }
  const answer = client.permit === undefined ? await shown(call, form) : answered(client.permit);
  const refused = whyNot(answer, bridge.rules.fastestAnswerMs);
  if (refused === undefined) return undefined;
  const what = outside === undefined ? 'run without asking' : `work in ${visibleLine(outside)}`;
  throw new ProductError(
    'FORBIDDEN',
    `The person was asked in a form whether the task may ${what}: ${refused} Nothing was sent. ${outside === undefined ? 'Delegate it without autoExecute: the person is asked for each action.' : howToAllow(outside)}`,
    { facts: outside === undefined ? {} : { workspace: outside } },
  );
}

/** At most four rows and no field: Accept allows the task, Decline does not. */
function startForm(
  { task, unasked }: Wanted,
  { outside, own }: { outside: string | undefined; own: string },
): Form {
  const message = [
    unasked
      ? `May a task run every tool without asking you${outside === undefined ? '' : ', outside of your directory'}?`
      : 'May a task work outside of your directory?',
    `Directory: ${visibleLine(outside ?? own)}`,
    `Task: ${visibleLine(titleOf(task))}`,
  ].join('\n');
  return { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } };
}

interface Answered {
  response: unknown;
  /** How long the form was open, in milliseconds. */
  afterMs: number;
}

async function shown({ client, signal }: ToolCall, form: Form): Promise<Answered> {
  const since = performance.now();
  const open = new AbortController();
  const stopWatching = onAbort(signal, () => open.abort(signal.reason));
  try {
    return { response: await client.elicit(form, open.signal), afterMs: performance.now() - since };
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ProductError(
      'FORBIDDEN',
      `The form for the person could not be shown: ${messageOf(error)}. Nothing was sent.`,
      { cause: error },
    );
  } finally {
    stopWatching();
  }
}

function answered({ askedAt, responses }: NonNullable<ToolCall['client']['permit']>): Answered {
  return { response: responses[KEY], afterMs: Date.now() - askedAt };
}

const formAnswer = z.looseObject({ action: z.enum(['accept', 'decline', 'cancel']) });

/** @returns undefined when the person has allowed it */
function whyNot({ response, afterMs }: Answered, fastestMs: number): string | undefined {
  const action = formAnswer.safeParse(response).data?.action;
  if (action === undefined) return 'the answer was not understood.';
  if (action === 'cancel') return 'the form was closed without an answer.';
  if (action === 'decline') return 'they declined.';
  return afterMs < fastestMs ? 'the answer came faster than a person reads, and does not count.' : undefined;
}

function notAllowed(path: string, own: string): ProductError {
  return new ProductError(
    'FORBIDDEN',
    `A call may name ${own} or a directory below it as the workspace, and ${visibleLine(path)} is outside. Nothing was sent. ${howToAllow(path)}`,
    { facts: { workspace: path } },
  );
}

function howToAllow(path: string): string {
  return `To allow it for every call, the operator starts the bridge with --allow-workspace ${JSON.stringify(visibleLine(path))}, or lists it as "allowWorkspace" in the configuration file.`;
}
