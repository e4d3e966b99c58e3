/** What an MCP tool of the bridge is, and how it is offered to a client. */
import type { CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { messageOf, ProductError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logging.ts';
import type { Activity } from '../../shared/protocol/tool-approval.ts';
import type { Bridge } from '../bridge.ts';
import { startProgress } from './progress.ts';
import { TOOL_NAMES, type ToolName } from './tool-name.ts';

/** What a tool gives back: the text says all that the structured result says. */
export interface Reply<Output> {
  structured: Output;
  text: string;
}

/** One call of a tool. */
export interface ToolCall {
  readonly bridge: Bridge;
  /** Aborts when the client withdraws the call, or goes. The task goes on (detach). */
  readonly signal: AbortSignal;
  /** Tells a client that asked for progress what has just happened. */
  readonly report: (activity: Activity) => void;
  /** How long to wait for the task, in milliseconds, of what the call says in seconds. */
  readonly timeout: (waitSeconds: number | undefined) => number;
  /** A tool's name as this client sees it. */
  readonly name: (tool: ToolName) => string;
}

export interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: ToolName;
  title: string;
  /** The important first: clients cut at 2 KB. */
  description: string;
  input: Input;
  output: Output;
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
  /** Keeps the tool in the model's view in clients that hide tools behind a search. */
  alwaysLoad?: boolean;
  /** Clients that know the hint ask the person before the tool runs. */
  asksPerson?: boolean;
  run(input: z.output<Input>, call: ToolCall): Promise<Reply<z.output<Output>>>;
}

/** What offering a tool needs from outside. */
export interface Offer {
  server: McpServer;
  prefix: string;
  log: Logger;
  /** Opened by the first call that needs it, so that the first MCP answers do not wait. */
  bridge: () => Promise<Bridge>;
}

export interface Tool {
  readonly name: ToolName;
  offer(offer: Offer): void;
}

/** The most a result may have before a client cuts it, in characters. */
const MAX_RESULT = 400_000;

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
): Tool {
  const { name, title, description, annotations } = spec;
  return {
    name,
    offer({ server, prefix, log, bridge }) {
      const config = {
        title,
        description: prefixed(description, prefix),
        inputSchema: spec.input,
        outputSchema: spec.output,
        annotations: { title, ...annotations },
        _meta: {
          'anthropic/maxResultSizeChars': MAX_RESULT,
          ...(spec.alwaysLoad === true ? { 'anthropic/alwaysLoad': true } : {}),
          ...(spec.asksPerson === true ? { 'anthropic/requiresUserInteraction': true } : {}),
        },
      };
      server.registerTool<z.ZodObject, z.ZodObject>(`${prefix}${name}`, config, async (args, context) => {
        const progress = startProgress(context, title);
        const unwatch = logWithdrawal(context, `${prefix}${name}`, log);
        try {
          const opened = await bridge();
          const { _meta: meta } = context.mcpReq;
          const reply = await spec.run(spec.input.parse(args), {
            bridge: opened,
            timeout: (seconds) =>
              waitMs(seconds ?? opened.defaults.waitSeconds, meta?.progressToken !== undefined),
            signal: context.mcpReq.signal,
            report: progress.report,
            name: (tool) => `${prefix}${tool}`,
          });
          return { content: [{ type: 'text', text: reply.text }], structuredContent: reply.structured };
        } catch (error) {
          return failure(error, { prefix, name, log });
        } finally {
          progress.end();
          unwatch();
        }
      });
    },
  };
}

/** Clients that get no progress give up on a call after 60 s, the default of their SDK; progress keeps others waiting. */
const WAIT_SECONDS = { withProgress: 100, without: 50 };

/** @param seconds what the call or the settings say; undefined when neither does */
export function waitMs(seconds: number | undefined, progress: boolean): number {
  return (seconds ?? (progress ? WAIT_SECONDS.withProgress : WAIT_SECONDS.without)) * 1000;
}

/** B4: a failure of a tool is a result, with a sentence that says what to do next. */
function failure(
  error: unknown,
  { prefix, name, log }: { prefix: string; name: ToolName; log: Logger },
): CallToolResult {
  const known = error instanceof ProductError;
  if (!known) log.error({ tool: name, err: error }, 'a tool failed in a way nobody foresaw');
  const sentence = known
    ? error.message
    : `The bridge met an error it did not expect (${messageOf(error)}). Its log on stderr says more; try again.`;
  return {
    content: [{ type: 'text', text: prefixed(sentence, prefix) }],
    isError: true,
    // No structured content: clients check it against the output schema, which a failure does not fit.
    _meta: known ? { 'mcp-a2a-bridge/error': { reason: error.reason, facts: { ...error.facts } } } : {},
  };
}

const NAMES = new RegExp(`\\b(?:${TOOL_NAMES.join('|')})\\b`, 'g');

/** The bridge's own words with the tools' names as the client knows them. */
export function prefixed(text: string, prefix: string): string {
  return prefix === '' ? text : text.replaceAll(NAMES, (name) => `${prefix}${name}`);
}

/** R48: a withdrawn call ends, its reason is on record, and the task goes on. */
function logWithdrawal(context: ServerContext, tool: string, log: Logger): () => void {
  const { signal } = context.mcpReq;
  const note = (): void => {
    log.info({ tool, reason: messageOf(signal.reason) }, 'the client withdrew a call; its task goes on');
  };
  signal.addEventListener('abort', note, { once: true });
  return () => signal.removeEventListener('abort', note);
}
