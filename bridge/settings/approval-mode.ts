/** The setting `approvals`: who may decide, and how the bridge asks a person. */

/**
 * Who may decide.
 * - `auto`: a person in a form, if the client supports forms. Decisions through the MCP tool are valid too.
 * - `human-only`: only a person, and not through a tool call. The approval card shows actions, but cannot decide.
 * - `tool-only`: only through the MCP tool, without forms and without the approval card.
 */
export const APPROVAL_MODES = ['auto', 'human-only', 'tool-only'] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** How a decision was made, e.g. in a form or on the command line. The agent records the channel with the decision. */
export type DecisionChannel = 'task-form' | 'elicitation' | 'card' | 'tool' | 'cli' | 'webhook';

/**
 * What a form contains. `none`: the person can only approve or deny. `more`: the form also has fields with which the
 * person can edit the action, extend the approval to later calls, and give a reason.
 */
export const FORM_FIELDS_VALUES = ['none', 'more'] as const;
export type FormFieldsSetting = (typeof FORM_FIELDS_VALUES)[number];

export interface ApprovalSettings {
  approvals: ApprovalMode;
  /** The minimum time in milliseconds in which a person can answer a form. A faster answer is ignored. */
  fastestAnswerMs: number;
}
