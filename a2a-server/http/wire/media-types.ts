/** The media types of the agent card: what a message's parts may have, and what the agent's parts have. */

export const INPUT_MODES: readonly string[] = ['text/plain', 'text/markdown', 'application/json'];
export const OUTPUT_MODES: readonly string[] = ['text/plain', 'application/json'];
