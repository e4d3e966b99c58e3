/** Describes the mode and the grants of a task in words. Pure. */
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { byText } from '../../../../shared/text/decided-by-text.ts';
import type { TaskFacts, TaskGrant } from './task-facts.ts';

const MODES: Readonly<Record<string, string>> = {
  ask: 'asks before each change',
  'accept-edits': 'changes files without asking',
  auto: 'does everything without asking',
  plan: 'only reads and plans',
};

/** Returns e.g. `asks before each change`. */
export function modeText({ mode, autoExecute, readOnly }: TaskFacts['settings']): string {
  const base = MODES[autoExecute === true ? 'auto' : (mode ?? 'ask')] ?? visibleLine(mode ?? '');
  return readOnly === true && mode !== 'plan' ? `${base}; has only read-only tools` : base;
}

/** Returns e.g. `write-file, by ada on an approval page, 3 more uses`. */
export function grantText({ scope, tool, source, by, channel, expiresAt, usesLeft }: TaskGrant): string {
  const name = source.server ?? source.agent ?? 'the built-in tools';
  const covers = scope === 'tool' ? tool : scope === 'server' ? `all of ${name}` : 'all tools';
  const uses = usesLeft === null ? [] : [`${usesLeft} more ${usesLeft === 1 ? 'use' : 'uses'}`];
  const until = expiresAt === null ? [] : [`until ${new Date(expiresAt).toLocaleString()}`];
  return visibleLine([covers, byText({ by, channel }), ...uses, ...until].join(', '));
}
