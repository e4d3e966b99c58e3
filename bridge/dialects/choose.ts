/** Which dialect an agent speaks, from what its card declares. */
import { TOOL_APPROVAL } from '../../shared/protocol/tool-approval.ts';
import type { Dialect } from './dialect.ts';
import { nativeDialect } from './native.ts';
import { plainDialect } from './plain.ts';

export function chooseDialect(extensions: readonly string[]): Dialect {
  return extensions.includes(TOOL_APPROVAL) ? nativeDialect : plainDialect;
}
