/** The start of a JSON plan, which the offline agent takes as its task. */
const PLAN = /^\{\s*"plan"\s*:/;
/** Matches the tool of a step. A title may end inside the plan, so it cannot be parsed as JSON. */
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
