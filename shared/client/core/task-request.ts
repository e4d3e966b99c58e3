import type { PresenceAssertion } from '../../protocol/presence-assertion.ts';
import type { Answer } from '../../protocol/question.ts';
import type { DecisionScope, GrantLimits, TaskMode } from '../../protocol/tool-approval.ts';

export interface TaskRequest {
  text: string;
  /** The session to continue. Without an id, a new session begins. */
  sessionId?: string | undefined;
  /** The absolute path of the working directory, on the agent's machine. */
  workspace?: string | undefined;
  /** True to run every tool without asking. A person must have agreed to that. */
  autoExecute?: boolean | undefined;
  /**
   * The acts that the task may do without asking: `ask`, `accept-edits`, `auto` (like `autoExecute`), `plan`. A person must have
   * agreed to `auto`.
   */
  mode?: TaskMode | undefined;
  /** A model tier (`fast`, `smart`), or a model id of the agent. */
  model?: string | undefined;
}

/** Grants of a task: a list of ids, or all grants. */
export type Grants = 'all' | readonly string[];

/** One tool call without the agent's model. */
export interface ToolRequest {
  tool: string;
  input?: Readonly<Record<string, unknown>> | undefined;
  /** The absolute path of the working directory, on the agent's machine. */
  workspace?: string | undefined;
}

/** One command that the agent runs without its model, for example `checkpoint list`. */
export interface CommandRequest {
  command: string;
  args?: readonly string[] | undefined;
  /** The session to continue. Its tasks must have ended. Without an id, a new session begins. */
  sessionId?: string | undefined;
  /** The absolute path of the working directory, on the agent's machine. */
  workspace?: string | undefined;
}

/**
 * `shown` is the code of the question that the person saw. The caller stores the code with the displayed question and
 * sends it back (D2).
 */
export type Decision = {
  callId: string;
  shown: string;
  reason?: string | undefined;
  /** The assertion of a passkey, for an action that demands presence. Only the server's page can make it. */
  presence?: PresenceAssertion | undefined;
} & (
  | /** Runs the call. `scope` names the later calls that need no decision. The default is `once`, which names none. */ {
      decision: 'approve';
      scope?: DecisionScope | undefined;
      /** The limits of the grant. Without limits, the grant lasts as long as the task. */
      grant?: GrantLimits | undefined;
    }
    /** Does not run the call. The agent continues without it. */
  | { decision: 'deny' }
  /** Runs the call with this input instead. */
  | { decision: 'edit'; input: Record<string, unknown> }
  /** Writes this text instead. Only for tools that write a file. */
  | { decision: 'edit'; content: string }
  /** Answers a question with free text, one or more choices, or the values of the form. */
  | { decision: 'answer'; answer: Answer }
);
