/** Plans a change of the bridge's entry in a client's configuration file, and makes the diff that the person sees. */
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { unifiedDiffOfTexts } from '../../../shared/text/unified-diff.ts';
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

function decideChange(file: EditableConfigFile, decide: (text: string) => ConfigChange): ConfigChange {
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
