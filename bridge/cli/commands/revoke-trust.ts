/**
 * The command `revoke`: lists the grants of trust in a session, or revokes them. Such a grant also covers later tool
 * calls.
 */
import { revokeTrust } from '../../approvals/revoke-trust.ts';
import { grantText, unexpiredGrantViews } from '../../mcp/reports/grant-text.ts';
import type { Session } from '../../sessions/session/session.ts';
import { openCommandSessions } from '../context/command-sessions.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { resolveSession } from '../decisions/resolve-id.ts';
import type { CommonCommandOptions, CommandRun } from '../context/run-command.ts';

interface RevokeOptions extends CommonCommandOptions {
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
  const context = await openCommandSessions(run);
  const session = await resolveSession(context.sessions, given);
  const revoked = options.all === true ? 'all' : [...grants];
  if (revoked.length > 0) await revokeTrust(session, revoked, 'cli');
  await session.fetchTask();
  printGrants(run, session, revoked);
  await context.close();
}

function printGrants(
  { options, terminal }: CommandRun<RevokeOptions>,
  { id, view }: Session,
  revoked: 'all' | readonly string[],
): void {
  const grants = unexpiredGrantViews(view?.grants, Date.now());
  if (options.json === true) {
    terminal.say(JSON.stringify({ sessionId: id, revoked, grants }));
    return;
  }
  if (revoked.length > 0)
    terminal.say(
      `${terminal.paint('green', 'Revoked')}: ${revoked === 'all' ? 'all trust' : revoked.join(', ')}`,
    );
  for (const grant of grants) terminal.explain(`${terminal.paint('yellow', 'Trusted')} ${grantText(grant)}`);
  if (grants.length === 0) terminal.say('Nothing is trusted in this session.');
}
