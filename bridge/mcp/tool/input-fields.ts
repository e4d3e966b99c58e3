import { z } from 'zod';

/** The maximum wait in seconds: one hour. No client keeps a tool call open for longer. */
const MAX_WAIT_SECONDS = 3_600;

export const waitSecondsSchema = z
  .number()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .optional()
  .describe('How long this call waits. Default: 100, or 50 without progress.');

export const sessionIdSchema = z.string().min(1).max(200).describe('The session id from another tool.');

export const workspaceSchema = z
  .string()
  .min(1)
  .max(4096)
  .describe('Absolute path of the directory to work in.');

const agentName = z.string().min(1).max(100);

export const agentSchema = agentName.optional().describe('Default: the first configured agent.');

/** The maximum number of files. More files hardly help the agent, and each path takes space in the conversation. */
const MAX_FILES = 10;

export const attachedFilesSchema = z
  .array(z.string().min(1).max(4096))
  .max(MAX_FILES)
  .optional()
  .describe('Paths of images, PDFs or text files of the workspace to send with the task.');

/** The agent of a session or of a tool execution, for tool calls that already name that session or tool execution. */
export const ownerAgentSchema = agentName.optional().describe("The session's agent, if known.");

export const modelSchema = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe(
    '"fast", "smart", or a model id of the agent. Default: fast for a task, smart for a consultation.',
  );

export const reasonSchema = z
  .string()
  .max(10_000)
  .optional()
  .describe('The reason, for the agent and the journal.');
