/**
 * Lists and runs the commands of gemini-cli's a2a-server (`packages/a2a-server/src/http/app.ts` at 04fbf50). This agent
 * runs commands outside of tasks, without approval.
 */
import { z } from 'zod';
import { ProductError } from '../../shared/runtime/errors.ts';
import {
  agentCommandText,
  type CommandCall,
  type OfferedCommand,
} from '../../shared/protocol/agent-command.ts';
import { parseJson } from '../../shared/text/parse-json.ts';
import { HttpError } from './http/request-errors.ts';

export interface GeminiCommandAnswer {
  text: string;
  failed: boolean;
}

/**
 * The time limit of a command in milliseconds. It is long, because a command may restore a whole directory, and the
 * agent sends nothing until the command ends.
 */
const COMMAND_TIMEOUT_MS = 100_000;

const argument = z.object({
  name: z.string(),
  description: z.string().default(''),
  isRequired: z.boolean().default(false),
});
const listed = z.object({
  name: z.string(),
  description: z.string().default(''),
  arguments: z.array(argument).default([]),
});
type ListedCommand = z.infer<typeof listed> & { subCommands: ListedCommand[] };
const command: z.ZodType<ListedCommand> = listed.extend({
  get subCommands() {
    return z.array(command).default([]);
  },
});
const commands = z.object({ commands: z.array(command) });

const message = z.object({ type: z.literal('message'), messageType: z.string(), content: z.string() });
const executed = z.object({ name: z.string(), data: z.unknown() });

/**
 * Returns the commands of the agent. Returns null if this version of the agent cannot list them.
 * @throws any error of `ask`
 */
export async function fetchGeminiCommands(
  url: string,
  ask: (url: URL) => Promise<Response>,
): Promise<readonly OfferedCommand[] | null> {
  try {
    const response = await ask(placeOf('listCommands', url));
    const parsed = commands.safeParse(await response.json());
    return parsed.success ? parsed.data.commands.flatMap(flattenCommands) : null;
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return null;
    throw error;
  }
}

/** Converts the tree of commands to a list. A command comes before its subcommands. */
function flattenCommands({ subCommands, arguments: args, ...rest }: ListedCommand): OfferedCommand[] {
  const own = args.map(({ name, description, isRequired }) => ({ name, description, required: isRequired }));
  return [{ ...rest, arguments: own }, ...subCommands.flatMap(flattenCommands)];
}

/**
 * Runs a command of the agent.
 * @throws ProductError UNKNOWN_COMMAND, AGENT_ERROR; any error of the request
 */
export async function executeGeminiCommand(
  url: string,
  call: CommandCall,
  send: typeof fetch,
): Promise<GeminiCommandAnswer> {
  const response = await send(placeOf('executeCommand', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(call),
    signal: AbortSignal.timeout(COMMAND_TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw toCommandError(error, call);
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    throw new ProductError(
      'AGENT_ERROR',
      `The agent runs ${agentCommandText(call)} as a task, and reports it only on the connection that started it. Find its session with list_all_active_sessions, or delegate the work as a task.`,
    );
  }
  return answerOf(await response.json());
}

function answerOf(body: unknown): GeminiCommandAnswer {
  const { data } = executed.parse(body);
  const said = message.safeParse(data);
  if (said.success) return { text: said.data.content, failed: said.data.messageType === 'error' };
  return { text: typeof data === 'string' ? data : JSON.stringify(data, null, 2), failed: false };
}

/** The error format of gemini-cli's server. It is not an A2A error. */
const refused = z.object({ error: z.string() });

function toCommandError(error: unknown, call: CommandCall): unknown {
  if (!(error instanceof HttpError)) return error;
  const why = refused.safeParse(parseJson(error.excerpt)).data?.error ?? error.excerpt;
  if (error.status === 404)
    return new ProductError('UNKNOWN_COMMAND', `The agent has no command ${agentCommandText(call)}: ${why}`);
  if (error.status === 400 || error.status === 500)
    return new ProductError('AGENT_ERROR', `The agent could not run ${agentCommandText(call)}: ${why}`);
  return error;
}

function placeOf(name: string, url: string): URL {
  return new URL(name, url.endsWith('/') ? url : `${url}/`);
}
