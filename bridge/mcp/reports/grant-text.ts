/** Describes the grants of trust that are in effect. Pure. */
import type { GrantView } from '../../../shared/protocol/tool-approval.ts';
import { byText } from '../../../shared/text/decided-by-text.ts';
import { countWithNoun } from '../../../shared/text/one-line.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { toolSourceText } from '../../../shared/protocol/preview-text.ts';

/** Returns the grants that have not expired. @param now the time in milliseconds since 1970 */
export function unexpiredGrantViews(grants: readonly GrantView[] = [], now: number): readonly GrantView[] {
  return grants.filter(({ expiresAt }) => expiresAt === null || now < Date.parse(expiresAt));
}

export function grantText(grant: GrantView): string {
  const { grantId, expiresAt, usesLeft, by, channel } = grant;
  return [
    `${grantId}: ${visibleLine(reachOf(grant))}`,
    ...(expiresAt === null ? [] : [`until ${expiresAt}`]),
    ...(usesLeft === null ? [] : [`${countWithNoun(usesLeft, 'use')} left`]),
    byText({ by, channel }),
  ].join(', ');
}

function reachOf({ scope, tool, source }: GrantView): string {
  switch (scope) {
    case 'tool':
      return tool;
    case 'server':
      return toolSourceText(source);
    case 'always':
      return 'everything';
  }
}
