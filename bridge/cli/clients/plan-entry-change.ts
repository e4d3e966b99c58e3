/** Plans a change of a configuration file, shows its diff, and asks the person to confirm it. */
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { unifiedDiffOfTexts } from '../../../shared/text/unified-diff.ts';
import { visibleText } from '../../../shared/text/visible-text.ts';
import type { CommandRun } from '../context/run-command.ts';
import { paintDiff } from '../terminal/paint.ts';
import { type EditableConfigFile, readEditableConfig, unusableConfigError } from './config-file.ts';
import type { ConfigChange } from './config-text.ts';

type BridgeEntryChange =
  | { type: 'same'; file: EditableConfigFile }
  | { type: 'changed'; file: EditableConfigFile; text: string; diff: string };

/**
 * Reads the file and plans the change. Writes nothing.
 * @param decide returns the change for the text of the file
 * @throws ProductError CONFIGURATION if the file cannot be read, or if another server uses the name
 */
export async function planBridgeEntryChange(
  path: string,
  name: string,
  decide: (text: string) => ConfigChange,
): Promise<BridgeEntryChange> {
  const file = await readEditableConfig(path);
  const change = decideChange(file, decide);
  switch (change.type) {
    case 'same':
      return { type: 'same', file };
    case 'taken':
      throw unusableConfigError(
        file.path,
        `"${name}" is another server there. Choose another name with --name`,
      );
    case 'changed':
      return { type: 'changed', file, text: change.text, diff: diffOf(file, change.text) };
  }
}

/** Decides on a change of the file. @throws ProductError CONFIGURATION if `decide` cannot read its text */
export function decideChange<Change>(file: EditableConfigFile, decide: (text: string) => Change): Change {
  try {
    return decide(file.text);
  } catch (error) {
    if (error instanceof ProductError) throw error;
    throw unusableConfigError(file.path, `${errorMessageOf(error)}. Correct it, then run this again`, error);
  }
}

function diffOf({ path, text, mode }: EditableConfigFile, after: string): string {
  const from = mode === undefined ? '/dev/null' : path;
  return unifiedDiffOfTexts({ from, to: path }, text, after).trimEnd();
}

export interface WriteOptions {
  dryRun?: boolean;
  yes?: boolean;
}

/**
 * Shows the change. In an interactive terminal, then asks the person to confirm it, unless `--yes` or `--json` is given.
 * With `--dry-run`, asks nothing.
 */
export async function confirmChange(
  { options, terminal }: Pick<CommandRun<WriteOptions>, 'options' | 'terminal'>,
  { file, diff }: Extract<BridgeEntryChange, { type: 'changed' }>,
): Promise<'dry run' | 'declined' | 'confirmed'> {
  terminal.say(paintDiff(visibleText(diff), terminal.paint));
  if (options.dryRun === true) return 'dry run';
  const asks = terminal.canAsk && options.yes !== true;
  return asks && !(await terminal.confirm(`Write this to ${file.path}?`)) ? 'declined' : 'confirmed';
}
