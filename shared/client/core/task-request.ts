import type { PresenceAssertion } from '../../protocol/presence-assertion.ts';
import type { Answer } from '../../protocol/question.ts';
import type { DecisionScope, GrantLimits, TaskMode } from '../../protocol/tool-approval.ts';

export interface TaskRequest {
  text: string;
  /** The id of the session that the task continues. Without an id, the task starts a new session. */
  sessionId?: string | undefined;
  /** The absolute path of the working directory, on the agent's machine. */
  workspace?: string | undefined;
  /** True if every tool runs without approval. A person must have agreed to this. */
  autoExecute?: boolean | undefined;
  /**
   * The actions that the task may do without approval: `ask`, `accept-edits`, `auto` (like `autoExecute`), `plan`. A
   * person must have agreed to `auto`.
   */
  mode?: TaskMode | undefined;
  /** A model tier (`fast`, `smart`), or the id of a model that the agent offers. */
  model?: string | undefined;
}

/** The grants that a request revokes: a list of grant ids, or all grants of the task. */
export type GrantsToRevoke = 'all' | readonly string[];

/** A request for one tool call, without the agent's model. */
export interface ToolRequest {
  tool: string;
  input?: Readonly<Record<string, unknown>> | undefined;
  /** The absolute path of the working directory, on the agent's machine. */
  workspace?: string | undefined;
}

/** A request to run one command of the agent without a model, for example `checkpoint list`. */
export interface CommandRequest {
  command: string;
  args?: readonly string[] | undefined;
  /**
   * The id of the session that the command continues. The tasks of that session must have ended. Without an id, the
   * command starts a new session.
   */
  sessionId?: string | undefined;
  /** The absolute path of the working directory, on the agent's machine. */
  workspace?: string | undefined;
}

/**
 * A person's decision on a pending action. D2: a decision is valid only for what the person saw. `shown` is the code of
 * what the person saw. The caller stores the code when it shows the action, and sends it back here.
 */
export type Decision = {
  callId: string;
  shown: string;
  reason?: string | undefined;
  /** The person's passkey assertion, for an action that demands one. Only the server's page can create it. */
  presence?: PresenceAssertion | undefined;
} & (
  | /** Runs the call. `scope` says which later calls need no decision. The default `once` covers no later call. */ {
      decision: 'approve';
      scope?: DecisionScope | undefined;
      /** The limits of the grant that a `scope` creates. Without limits, the grant lasts as long as the task. */
      grant?: GrantLimits | undefined;
    }
  /** Does not run the call. The agent continues without it. */
  | { decision: 'deny' }
  /** Runs the call with this input instead of the agent's input. */
  | { decision: 'edit'; input: Record<string, unknown> }
  /** Runs the call with this text as the new content of the file. Only for tools that write a file. */
  | { decision: 'edit'; content: string }
  /** Answers a question with free text, one or more choices, or the values of the form. */
  | { decision: 'answer'; answer: Answer }
);
