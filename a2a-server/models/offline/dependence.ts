/**
 * Which steps are not tried after another went wrong. The rule: a step that needs a file as an earlier step was to
 * leave it — it reads, appends to or edits that file, or runs a command that names it — is skipped when that step did
 * not happen. Writing a whole file needs nothing, and makes the file good again.
 */
import type { PlannedCall } from './step.ts';
import { FILE_CHANGES, TOOL } from './tool-names.ts';

/** The files an earlier step was to change and did not. */
export type Unmade = ReadonlySet<string>;

/** The file that keeps this call from being tried, if there is one. */
export function missingFor(call: PlannedCall, unmade: Unmade): string | undefined {
  if (call.tool === TOOL.write) return undefined;
  const { path, command } = call.input;
  if (typeof path === 'string') return unmade.has(path) ? path : undefined;
  if (typeof command !== 'string') return undefined;
  return [...unmade].find((file) => command.includes(file));
}

/** The files unmade after `call` was done, or was not. */
export function unmadeAfter(unmade: Unmade, call: PlannedCall, done: boolean): Unmade {
  const path = madeBy(call);
  if (path === undefined) return unmade;
  const after = new Set(unmade);
  if (done) after.delete(path);
  else after.add(path);
  return after;
}

/** The file as this call is to leave it: of one that moves, the one at its new name. */
function madeBy({ tool, input }: PlannedCall): string | undefined {
  const made = tool === TOOL.move ? input['to'] : FILE_CHANGES.has(tool) ? input['path'] : undefined;
  return typeof made === 'string' ? made : undefined;
}
