/** The requests and decisions of a client. They are the same over A2A and MCP. */
import type { Answer } from '../../protocol/question.ts';
import type { DecisionScope, GrantLimits, TaskMode } from '../../protocol/tool-approval.ts';

export interface TaskRequest {
  /** The instructions for the agent. */
  text: string;
  /** The session to continue. Omit it to start a new one. */
  sessionId?: string | undefined;
  /** The absolute path of the working directory, on the agent's machine. */
  workspace?: string | undefined;
  /** Runs every tool without asking. Set this only if a person agreed. */
  autoExecute?: boolean | undefined;
  /**
   * What the task may do without asking: `ask`, `accept-edits`, `auto` (like `autoExecute`), `plan`. Set `auto` only if
   * a person agreed.
   */
  mode?: TaskMode | undefined;
  /** A model tier (`fast`, `smart`), or a model id of the agent. */
  model?: string | undefined;
}

/** Grants of a task: a list of ids, or all. */
export type Grants = 'all' | readonly string[];

/** One call of one tool of the agent, without its model. */
export interface ToolRequest {
  tool: string;
  input?: Readonly<Record<string, unknown>> | undefined;
  /** The absolute path of the working directory, on the agent's machine. */
  workspace?: string | undefined;
}

/**
 * `shown` is the code of the question that the person saw. Store it with the displayed question and send it back (D2).
 */
export type Decision = { callId: string; shown: string; reason?: string | undefined } & (
  | /** Run the call. `scope` names the later calls that need no decision. The default is `once`: none. */ {
      decision: 'approve';
      scope?: DecisionScope | undefined;
      /** The limits of the grant. Without limits, the grant lasts as long as the task. */
      grant?: GrantLimits | undefined;
    }
    /** Do not run the call. The agent continues without it. */
  | { decision: 'deny' }
  /** Run the call with this input instead. */
  | { decision: 'edit'; input: Record<string, unknown> }
  /** Write this text instead. Only for tools that write a file. */
  | { decision: 'edit'; content: string }
  /** The answer to a question: free text, one or more choices, or the values of the form. */
  | { decision: 'answer'; answer: Answer }
);
