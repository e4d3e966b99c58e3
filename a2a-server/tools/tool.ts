/** What a tool is: a schema, a kind of side effect, a preview a person can judge, and the work itself. */
import type { z } from 'zod';
import type { Answer, Question } from '../../shared/protocol/question.ts';
import type { Preview, SideEffect, Todo, ToolSource } from '../../shared/protocol/tool-approval.ts';
import type { Call, TaskPlace } from '../task/snapshot.ts';
import type { Workspace } from './workspace.ts';

/** What a tool may know while it only looks. */
export interface ToolContext {
  /** Whose task it works for. */
  principal: string;
  workspace: Workspace;
  signal: AbortSignal;
}

/** What became of a tool's question. Who is not answered because it is stopped is told by its signal. */
export type PersonsAnswer =
  /** `answer` as the question takes it: words, a label, several labels, or the values of its form. */
  | { type: 'answered'; answer: Answer; by: { principal: string; channel: string } }
  /** The person does not want to answer, and may say why. */
  | { type: 'declined'; reason: string | null };

/** What a tool may use while it works. */
export interface ToolRun extends ToolContext {
  toolId: string;
  /**
   * What the approved preview was made from; a tool that replaces content refuses when it has changed (D2). Null when
   * nobody was shown one.
   */
  basis: string | null;
  /** Live output, shown to whoever watches. */
  output: (text: string) => void;
  /** Says what the agent means to do, in the place of what it said before. It stands once the run has come to a good end. */
  plan?: (todos: readonly Todo[]) => void;
  /**
   * Asks the person something and waits for as long as it takes: the task is parked meanwhile, and no time limit counts.
   * Rejects when the run is stopped, or `signal` aborts: the question is then withdrawn.
   */
  ask: (question: Question, options?: { signal?: AbortSignal }) => Promise<PersonsAnswer>;
  /**
   * To be called before it goes on to a host that its input did not name (a redirect).
   * @throws ProductError FORBIDDEN where a rule of policy denies it
   */
  goesTo?: (hosts: readonly string[]) => void;
  /** The call that is run, and its task as it was then: for what an agent of its own has asked for. */
  asked?: { call: Call; place: TaskPlace };
}

export interface ToolResult {
  /** What the model sees; capped by the tool. */
  text: string;
  /** One line for a person, e.g. `wrote test.md (5 bytes)`. */
  summary: string;
}

/** A preview, and the hash of what it was made from where there is such a thing. */
export interface Shown {
  preview: Preview;
  basis: string | null;
}

/** What a call would touch, as its input says it: what the rules of policy look at. */
export interface Reach {
  /** Files and directories of the workspace, as written. */
  paths?: readonly string[];
  /** Directories all of whose content may be read or changed. */
  trees?: readonly string[];
  /** A command line for the shell. */
  command?: string;
  /** Hosts, in lower case and without port, that are asked first. */
  hosts?: readonly string[];
}

export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly source: ToolSource;
  readonly sideEffect: SideEffect;
  /** True for a tool that has to be asked for and yet may be run again when its outcome is lost (E2), such as a GET. */
  readonly repeatable?: boolean;
  /** True for a tool that only a person's command asks for; models are not told of it. */
  readonly commandOnly?: boolean;
  readonly schema: z.ZodType<Input>;
  /** The JSON Schema that a model is told, where it is not the one of `schema`: somebody else's tool has its own. */
  readonly inputSchema?: Record<string, unknown>;
  /** Milliseconds after which a run is stopped with reason `timeout`. */
  timeoutMs(input: Input): number;
  /** How long a stopped run may take to settle, in milliseconds, where that is not the server's grace period. */
  readonly graceMs?: number;
  title(input: Input): string;
  /** Left out where the input does not say what the call touches; rules by path, command or host then cannot speak of it. */
  reach?(input: Input): Reach;
  /** Looks and never touches. @throws ProductError when the call could not work at all, e.g. outside the workspace. */
  show(input: Input, context: ToolContext): Promise<Shown>;
  /** For a tool that writes one text: its input with that text replaced (`edit` with `content`). */
  withContent?(input: Input, content: string): Input;
  /** Does the work. Throws to report a failure; stops promptly when `signal` aborts. */
  run(input: Input, run: ToolRun): Promise<ToolResult>;
}

/**
 * Thrown by a run that was cut short by its signal and has more to say than that. Any other way to settle after the
 * signal has aborted means: stopped, confirmed, nothing to show.
 */
export class ToolStopped extends Error {
  override readonly name = 'ToolStopped';
  /** What had been put out by then, capped. */
  readonly text: string;
  /** False when something the tool started may still be running. */
  readonly confirmed: boolean;

  constructor(message: string, { text, confirmed }: { text: string; confirmed: boolean }) {
    super(message);
    this.text = text;
    this.confirmed = confirmed;
  }
}
