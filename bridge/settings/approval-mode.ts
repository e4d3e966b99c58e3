/** Defines the setting `approvals`: who may decide, and how the bridge asks a person. */

/**
 * Who may decide.
 * - `auto`: a person in a form, if the client supports forms. Decisions through the tool count too.
 * - `human-only`: only a person, not through a tool call. The approval card shows actions, but cannot decide.
 * - `tool-only`: only through the tool, without forms and without the approval card.
 */
export const APPROVALS = ['auto', 'human-only', 'tool-only'] as const;
export type Approvals = (typeof APPROVALS)[number];

/** The channel over which a decision was made. The agent records it with the decision. */
export type Channel = 'task-form' | 'elicitation' | 'card' | 'tool' | 'cli' | 'webhook';

/**
 * `none`: a form can only approve or deny. `more`: a form also has fields to edit, to extend the approval, and to give
 * a reason.
 */
export const FORM_FIELDS = ['none', 'more'] as const;
export type FormFields = (typeof FORM_FIELDS)[number];

export interface ApprovalRules {
  approvals: Approvals;
  /** The shortest time in which a person can answer a form, in milliseconds. A faster answer does not count. */
  fastestAnswerMs: number;
}
