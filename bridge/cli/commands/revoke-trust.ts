/**
 * The command `revoke`: lists the grants of trust in a session, or revokes them. Such a grant also covers later tool
 * calls.
 */
import { revokeTrust } from '../../approvals/revoke-trust.ts';
import { grantText, unexpiredGrantViews } from '../../mcp/reports/grant-text.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { resolveSession } from '../decisions/resolve-id.ts';
import type { CommandRun } from '../context/run-command.ts';

interface RevokeOptions {
  all?: boolean;
}

export async function revokeTrustCommand(
  run: CommandRun<RevokeOptions>,
  given: string,
  grants: readonly string[],
): Promise<void> {
  const { options } = run;
  if (options.all === true && grants.length > 0)
    throw new UsageError('Name the grants or use --all, not both. Nothing was revoked.');
  const context = await run.openSessions();
  const session = await resolveSession(context.sessions, given);
  const revoked = options.all === true ? 'all' : [...grants];
  if (revoked.length > 0) await revokeTrust(session, revoked, 'cli');
  await session.fetchTask();
  printGrants(run.terminal, session, revoked);
}

function printGrants(terminal: Terminal, { id, view }: Session, revoked: 'all' | readonly string[]): void {
  const grants = unexpiredGrantViews(view?.grants, Date.now());
  terminal.json({ sessionId: id, revoked, grants });
  if (revoked.length > 0)
    terminal.say(
      `${terminal.paint('green', 'Revoked')}: ${revoked === 'all' ? 'all trust' : revoked.join(', ')}`,
    );
  for (const grant of grants) terminal.explain(`${terminal.paint('yellow', 'Trusted')} ${grantText(grant)}`);
  if (grants.length === 0) terminal.say('Nothing is trusted in this session.');
}
