/** Who may decide, and how a person is reached: the setting `approvals`. */

/**
 * - `auto`: a person is asked in a form where the client has one; a decision over the tool counts as well.
 * - `human-only`: only what a person has answered in a form counts; a tool call decides nothing.
 * - `tool-only`: nobody is asked in a form; decisions come over the tool.
 */
export const APPROVALS = ['auto', 'human-only', 'tool-only'] as const;
export type Approvals = (typeof APPROVALS)[number];

/** Over which rung of the ladder a decision came, as it is recorded with the decision. */
export type Channel = 'task-form' | 'elicitation' | 'tool' | 'cli' | 'webhook';

/** `none`: a form only approves or denies. `more`: it has fields to edit the action, to trust it and to give a reason. */
export const FORM_FIELDS = ['none', 'more'] as const;
export type FormFields = (typeof FORM_FIELDS)[number];

export interface ApprovalRules {
  approvals: Approvals;
  /** Milliseconds. An answer that comes back sooner has been read by nobody, and is none. */
  fastestAnswerMs: number;
}
