/** The setting `approvals`: who may decide, and how a person is asked. */

/**
 * How a person is asked.
 * - `auto`: in a form if the client supports forms; decisions through the tool count as well.
 * - `human-only`: only a person's answer in a form counts; a tool call decides nothing.
 * - `tool-only`: no forms; decisions come through the tool.
 */
export const APPROVALS = ['auto', 'human-only', 'tool-only'] as const;
export type Approvals = (typeof APPROVALS)[number];

/** The surface that a decision came from, recorded with the decision. */
export type Channel = 'task-form' | 'elicitation' | 'tool' | 'cli' | 'webhook';

/**
 * `none`: a form only approves or denies. `more`: it has fields to edit, to extend the approval and to give a reason.
 */
export const FORM_FIELDS = ['none', 'more'] as const;
export type FormFields = (typeof FORM_FIELDS)[number];

export interface ApprovalRules {
  approvals: Approvals;
  /** Milliseconds. A faster answer was not read by a person, and does not count. */
  fastestAnswerMs: number;
}
