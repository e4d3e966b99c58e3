/** Input fields that several tools share. */
import { z } from 'zod';

/** One hour: no client holds a call open for longer. */
const MAX_WAIT_SECONDS = 3_600;

export const waitSecondsSchema = z
  .number()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .optional()
  .describe(
    'How long this call waits for it, in seconds; after that it returns the handle. 0 does not wait. When left out: 100, or 50 for a client that asks for no progress.',
  );

export const sessionIdSchema = z.string().min(1).max(200).describe('The session id from another tool.');

const agentName = z.string().min(1).max(100);

export const agentSchema = agentName.optional().describe('The agent. If omitted: the first one configured.');

/** For calls that already name a session or a tool execution. */
export const ownerAgentSchema = agentName
  .optional()
  .describe("The session's agent, if known: then only this agent is asked. May be omitted.");

export const modelSchema = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe(
    'A model tier ("fast", "smart") or a model id that the agent knows. Default: fast for a task, smart for a consultation.',
  );

export const reasonSchema = z
  .string()
  .max(10_000)
  .optional()
  .describe('The reason, for the agent and the journal.');
