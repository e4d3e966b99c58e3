/** The setting `approvals`: who may decide, and how the bridge asks a person. */

/**
 * How the bridge asks a person.
 * - `auto`: in a form if the client supports forms. Decisions through the tool count too.
 * - `human-only`: only a person's answer in a form counts. A tool call decides nothing.
 * - `tool-only`: no forms. Decisions come through the tool.
 */
export const APPROVALS = ['auto', 'human-only', 'tool-only'] as const;
export type Approvals = (typeof APPROVALS)[number];

/** The surface that a decision came from, recorded with the decision. */
export type Channel = 'task-form' | 'elicitation' | 'tool' | 'cli' | 'webhook';

/**
 * `none`: a form can only approve or deny. `more`: it also has fields to edit the action, to extend the approval and to
 * give a reason.
 */
export const FORM_FIELDS = ['none', 'more'] as const;
export type FormFields = (typeof FORM_FIELDS)[number];

export interface ApprovalRules {
  approvals: Approvals;
  /** Milliseconds. No person can read a form faster. So a faster answer does not count. */
  fastestAnswerMs: number;
}
