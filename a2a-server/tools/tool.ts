/** Defines a tool: a schema, a kind of side effect, a preview that a person can review, and the work. */
import type { z } from 'zod';
import type { FileType } from '../../shared/protocol/attached-file.ts';
import type { Answer, Question } from '../../shared/protocol/question.ts';
import type {
  Preview,
  SideEffect,
  StopReason,
  Todo,
  ToolProgress,
  ToolSource,
} from '../../shared/protocol/tool-approval.ts';
import type { Call, TaskPlace } from '../task/snapshot.ts';
import type { Workspace } from './workspace/workspace.ts';

/** The context of a tool that makes a preview and changes nothing. */
export interface ToolContext {
  /** The principal that owns the task. */
  principal: string;
  workspace: Workspace;
  signal: AbortSignal;
}

/** The outcome of a tool's question. A stopped tool gets no outcome: its signal aborts. */
export type PersonsAnswer =
  /** `answer` has the form that the question asks for: text, one label, several labels, or form values. */
  | { type: 'answered'; answer: Answer; by: { principal: string; channel: string } }
  /** The person does not answer, and may give a reason. */
  | { type: 'declined'; reason: string | null };

/** The context of a tool that runs. */
export interface ToolRun extends ToolContext {
  toolId: string;
  /**
   * The hash of the content that the approved preview shows. A tool that replaces content refuses if the content has
   * changed (D2). Null if there was no preview.
   */
  basis: string | null;
  /** Writes live output, which clients of the task can see. `progress`: the steps so far, if their number is known. */
  output: (text: string, progress?: ToolProgress) => void;
  /** Replaces the agent's todo list. The list takes effect when the run succeeds. */
  plan?: (todos: readonly Todo[]) => void;
  /**
   * Asks the person a question and waits without a time limit. The task is parked while it waits.
   *
   * When the run stops or `signal` aborts, the returned promise rejects, and the question is withdrawn.
   */
  ask: (question: Question, options?: { signal?: AbortSignal }) => Promise<PersonsAnswer>;
  /**
   * Call this before a request to a host that the input does not name (a redirect).
   * @throws ProductError FORBIDDEN if a policy rule denies the host
   */
  goesTo?: (hosts: readonly string[]) => void;
  /** Returns the reason of the abort, for a tool that must report it to a service. Undefined before the abort. */
  stopCause?: () => { reason: StopReason; message: string } | undefined;
  /**
   * Records an answer that arrives after the stop of the run. Clients of the task see it as output, and `read-output`
   * reads it. Records nothing if the task has ended.
   */
  answeredLate?: (text: string) => void;
  /** The running call, and its task state at the start. An ACP agent's own tool calls use it. */
  asked?: { call: Call; place: TaskPlace };
}

/** A file for the model: one of `FILE_TYPES`, and not larger than `maxFileBytes`. */
export interface ResultFile {
  bytes: Uint8Array;
  mediaType: FileType;
  name?: string;
}

export interface ToolResult {
  /** The text for the model; the tool limits its length. */
  text: string;
  /** Files for the model. If the model does not take them, it gets a sentence instead. The text names each file. */
  files?: readonly ResultFile[];
  /** One line for a person, for example `wrote test.md (5 bytes)`. */
  summary: string;
}

/** A preview, and the hash of the content it shows. The hash is null for previews without content. */
export interface ToolPreview {
  preview: Preview;
  basis: string | null;
}

/** The files, commands and hosts in a call's input. Policy rules check them. */
export interface CallTargets {
  /** Files and directories of the workspace, as the input spells them. */
  paths?: readonly string[];
  /** Directories whose whole content the call may read or change. */
  trees?: readonly string[];
  /** A command line for the shell. */
  command?: string;
  /** The hosts of the first request, in lower case and without port. */
  hosts?: readonly string[];
}

export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly source: ToolSource;
  readonly sideEffect: SideEffect;
  /** True for a tool that needs approval but can run again after a lost outcome (E2), for example a GET. */
  readonly repeatable?: boolean;
  /** True for a tool that only a person's command can call; models do not see it. */
  readonly commandOnly?: boolean;
  readonly schema: z.ZodType<Input>;
  /** The JSON Schema for the model, if it differs from `schema`. MCP tools bring their own. */
  readonly inputSchema?: Record<string, unknown>;
  /**
   * True for a tool that changes only files, and only through its workspace. One append then contains its start and its
   * first change (E2). For any other tool, the journal records the start before the tool runs.
   */
  readonly startsWithFirstChange?: true;
  /** Returns the time limit of a run, in milliseconds. Then the server stops the run with reason `timeout`. */
  timeoutMs(input: Input): number;
  /** The journal stores a longer result, and the model gets its start and end. The default is 105,000 characters. */
  readonly maxResultChars?: number;
  /** The time for a stopped run to settle, in milliseconds. The default is the server's grace period. */
  readonly graceMs?: number;
  title(input: Input): string;
  /**
   * Returns what the input names. Omitted if inputs name no files, commands or hosts. Rules by path, command or host
   * then do not apply.
   */
  reach?(input: Input): CallTargets;
  /**
   * Reads but changes nothing. @throws ProductError if the call cannot work at all, for example outside the workspace.
   */
  show(input: Input, context: ToolContext): Promise<ToolPreview>;
  /** For a tool that writes one text: returns the input with that text replaced (`edit` with `content`). */
  withContent?(input: Input, content: string): Input;
  /** Does the work. Throws to report a failure. Stops promptly when `signal` aborts. */
  run(input: Input, run: ToolRun): Promise<ToolResult>;
}

/**
 * A stopped run throws this to report output or an unconfirmed process. If the run settles in any other way after an
 * abort, it is stopped and confirmed, without output.
 */
export class ToolStopped extends Error {
  override readonly name = 'ToolStopped';
  /** The output until the stop, capped. */
  readonly text: string;
  /** False if a process of the tool may still be running. */
  readonly confirmed: boolean;

  constructor(message: string, { text, confirmed }: { text: string; confirmed: boolean }) {
    super(message);
    this.text = text;
    this.confirmed = confirmed;
  }
}

/** A tool as a model sees it. */
export interface ToolDeclaration {
  name: string;
  description: string;
  /** JSON Schema of the input. */
  inputSchema: Record<string, unknown>;
}

/** Maximum number of problems in the sentence. The sentence also gives the number of the other problems. */
const MAX_ISSUES = 8;

/** Explains why an input does not fit a tool's schema, in one sentence that names the fields. */
export function inputProblem(tool: string, error: z.ZodError): string {
  const issues = error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
  });
  const more = error.issues.length - issues.length;
  if (more > 0) issues.push(`and ${more} more`);
  return `The input of ${tool} does not fit: ${issues.join('; ')}.`;
}
