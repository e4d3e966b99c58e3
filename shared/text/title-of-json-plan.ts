/** The start of a JSON plan, which the offline agent takes as its task. */
const PLAN = /^\{\s*"plan"\s*:/;
/** Matches the name of a step's tool. A title is only the start of the plan, so its JSON may be cut off and not parsable. */
const TOOL = /"tool"\s*:\s*"([\w.-]+)"/g;

/**
 * Returns a task's title as a person reads it. For a JSON plan, the title names its tools in order, such as `Plan:
 * write-file, run-shell-command`. Any other title stays as it is.
 * @param title the first line of the task's first message. It may be cut.
 */
export function readableTaskTitle(title: string): string {
  if (!PLAN.test(title)) return title;
  const tools = [...title.matchAll(TOOL)].map(([, tool = '']) => tool);
  if (tools.length === 0) return title;
  return `Plan: ${tools.join(', ')}${title.endsWith('}') ? '' : ', …'}`;
}
