import type { PendingAction } from '../../../../shared/client/index.ts';

const SCOPES = [
  ['once', 'this time'],
  ['tool', 'for this tool, until the task ends'],
  ['server', 'for this source of tools, until the task ends'],
  ['always', 'for everything, until the task ends'],
] as const;
export type ApprovalScope = (typeof SCOPES)[number][0];

/**
 * Returns the scopes that an approval of this action may have, with their labels. The server refuses the scope `server`
 * for a built-in tool, because that tool belongs to no server.
 */
export function approvalScopesOf({
  source,
}: Pick<PendingAction, 'source'>): readonly (readonly [scope: ApprovalScope, label: string])[] {
  return SCOPES.filter(([scope]) => scope !== 'server' || source?.type !== 'built-in');
}
