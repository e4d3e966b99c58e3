/** Stands in for the files of the bridge's outbox: the real ones, and a SIGKILL at one write (see `death.ts`). */
import { replaceFile as replaceReally } from '../../../shared/atomic-file.ts';
import { mortalWrites } from './death.ts';

const mortal = mortalWrites();

export function replaceFile(path: string, text: string): Promise<void> {
  return mortal(() => replaceReally(path, text));
}
