import type { z } from 'zod';
import type { FileMediaType } from '../../shared/protocol/attached-file.ts';
import type { Answer, Question } from '../../shared/protocol/question.ts';
import type {
  Preview,
  SideEffect,
  StopReason,
  Todo,
  ToolProgress,
  ToolSource,
} from '../../shared/protocol/tool-approval.ts';
import type { Call, TaskWithEarlierTasks } from '../task/snapshot.ts';
import type { Workspace } from './workspace/workspace.ts';

export interface ToolContext {
  principal: string;
  workspace: Workspace;
  signal: AbortSignal;
}

/** The person's reaction to a tool's question. A stopped tool gets no reaction, because its signal aborts. */
export type ToolQuestionOutcome =
  /** The question decides the type of `answer`: text, one label, several labels, or form values. */
  | { type: 'answered'; answer: Answer; by: { principal: string; channel: string } }
  /** The person refused to answer. `reason` is null if the person gave no reason. */
  | { type: 'declined'; reason: string | null };

export interface ToolRun extends ToolContext {
  toolId: string;
  /**
   * The hash of the content that the approved preview shows. Null if there was no preview. D2: a tool that replaces
   * content refuses if the content has changed.
   */
  basis: string | null;
  /** Writes live output, which clients of the task can see. If the number of steps is known, `progress` counts them. */
  output: (text: string, progress?: ToolProgress) => void;
  /** Replaces the agent's todo list when the run succeeds. */
  plan: (todos: readonly Todo[]) => void;
  /**
   * Asks the person a question and waits without a time limit. The task has the state `input-required` until the
   * answer.
   *
   * When the run stops or `signal` aborts, the returned promise rejects and the server withdraws the question.
   */
  ask: (question: Question, options?: { signal?: AbortSignal }) => Promise<ToolQuestionOutcome>;
  /**
   * A tool calls this before it follows a redirect to a host that the input does not name.
   * @throws ProductError FORBIDDEN if a policy rule denies the host, or demands a passkey, an approver or a decision
   *   that the call does not have
   */
  goesTo: (hosts: readonly string[]) => void;
  /**
   * Returns false if the tool must skip this file or directory. The tool must skip a path that a policy rule denies, or
   * about which a rule demands a decision. Rules that match the call's own input do not count, because the server has
   * already checked them.
   * @param path relative to the workspace, with `/`
   */
  mayRead: (path: string) => boolean;
  /**
   * Returns the reason of the abort, so that a tool can send the reason to a service. Returns undefined before the
   * abort.
   */
  stopCause: () => { reason: StopReason; message: string } | undefined;
  /**
   * E1: checks that this server still owns the task. A tool that waits calls this directly before its effect, because
   * the machine may have paused this process for longer than its lease.
   * @throws OwnershipLostError if another server may continue the task
   */
  requireClaim: () => void;
  /**
   * Records an answer that arrives after the run has stopped. Clients of the task see the answer as output, and
   * `read-output` can read it. After the end of the task, records nothing.
   */
  answeredLate: (text: string) => void;
  /**
   * The running call, and the state of its task when the run started. ACP agents need both for the tool calls that they
   * make.
   */
  asked: { call: Call; place: TaskWithEarlierTasks };
}

/** A file for the model: one of `FILE_MEDIA_TYPES`, and not larger than `maxFileBytes`. */
export interface ToolResultFile {
  bytes: Uint8Array;
  mediaType: FileMediaType;
  name?: string;
}

export interface ToolResult {
  /** The text of the result for the model. The tool limits its length. */
  text: string;
  /** Files for the model. `text` names each file, because some models do not accept files. */
  files?: readonly ToolResultFile[];
  /** The result in one line for a person, for example `wrote test.md (5 bytes)`. */
  summary: string;
}

/** `basis` is the hash of the content that the preview shows. A preview without file content has the basis null. */
export interface PreviewWithBasis {
  preview: Preview;
  basis: string | null;
}

/** The files, commands and hosts in a tool call's input. The server checks them against the policy rules. */
export interface CallTargets {
  /** Files and directories of the workspace, as the input spells them. */
  paths?: readonly string[];
  /** Like `paths`, for a tool that does not follow a link in the last name, and changes the link itself. */
  entries?: readonly string[];
  /** Directories whose whole content the tool call may read or change. */
  trees?: readonly string[];
  command?: string;
  /** The directory in which the command runs, as the input spells it. */
  cwd?: string;
  /** The hosts of the tool call's first request, in lower case and without port. */
  hosts?: readonly string[];
  /**
   * True if further fields of the input change the effect. No `allow` rule for a command, a host or a path then
   * matches.
   */
  incomplete?: true;
}

export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly source: ToolSource;
  readonly sideEffect: SideEffect;
  /** True if the tool needs approval but can run again after a crash lost its outcome, for example a GET. */
  readonly repeatable?: boolean;
  /** True if models do not see the tool, because only a person's command may call it. */
  readonly commandOnly?: boolean;
  readonly schema: z.ZodType<Input>;
  /** The JSON Schema for the model, if it differs from `schema`. MCP tools have their own JSON Schema. */
  readonly inputSchema?: Record<string, unknown>;
  /**
   * True if the tool changes only files, and only through its workspace. One append then records the start of the run
   * and its first change. For any other tool, the journal records the start before the tool runs (E2: no side effect
   * without a recorded start).
   */
  readonly startsWithFirstChange?: true;
  /**
   * Returns the time limit of a run, in milliseconds. After the limit, the server stops the run with reason `timeout`.
   */
  timeoutMs(input: Input): number;
  /**
   * The maximum length of a result. If a result is longer, the journal stores all of it, and the model gets only its
   * start and its end. The default is 105,000 characters.
   */
  readonly maxResultChars?: number;
  /** The time that the server waits after a stop for the run to settle. The default is the server's grace period. */
  readonly graceMs?: number;
  title(input: Input): string;
  /**
   * Returns the files, commands and hosts in the input. Without this method, rules by path, command or host do not
   * apply.
   */
  reach?(input: Input): CallTargets;
  /**
   * Makes the preview. Changes nothing.
   * @throws ProductError if the tool call cannot work at all, for example outside the workspace
   */
  show(input: Input, context: ToolContext): Promise<PreviewWithBasis>;
  /** Exists if the tool writes one text. Returns the input with that text replaced by the person's `content`. */
  withContent?(input: Input, content: string): Input;
  /** Runs the tool. Stops promptly when `signal` aborts. Throws if the work fails. */
  run(input: Input, run: ToolRun): Promise<ToolResult>;
}

/**
 * A stopped tool throws this to report its output, or a process that may still run. Any other end of a run after an
 * abort is treated as a confirmed stop without output.
 */
export class ToolStoppedError extends Error {
  override readonly name = 'ToolStoppedError';
  /** The output until the stop. Its length is limited. */
  readonly text: string;
  /** False if a process of the tool may still be running. */
  readonly confirmed: boolean;

  constructor(message: string, { text, confirmed }: { text: string; confirmed: boolean }) {
    super(message);
    this.text = text;
    this.confirmed = confirmed;
  }
}

/** The strictest limit of all model providers. OpenAI allows `^[a-zA-Z0-9_-]{1,64}$`. */
export const MAX_TOOL_NAME_CHARS = 64;

/** A tool as a model sees it. */
export interface ToolDeclaration {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

/** The sentence names at most this many problems, and counts the others. */
const MAX_ISSUES = 8;

/** Returns one sentence that says why an input does not fit a tool's schema. The sentence names the fields. */
export function inputIssuesText(tool: string, error: z.ZodError): string {
  const issues = error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
  });
  const more = error.issues.length - issues.length;
  if (more > 0) issues.push(`and ${more} more`);
  return `The input of ${tool} does not fit: ${issues.join('; ')}.`;
}
