/**
 * The time limit for a person's answer to a form, in milliseconds. After this time, the tool call returns the pending
 * actions.
 */
export const FORM_TIMEOUT_MS = 10 * 60_000;
