/**
 * What policy says of a call: run it, ask a person, or refuse it. Pure.
 *
 * Deny beats ask beats allow, in whatever order the rules stand:
 * 1. a `deny` rule refuses the call, and so does a task that may only look, if the call has side effects;
 * 2. an `ask` rule asks, and so does a `deny` rule that may be meant, where the call cannot be read for certain;
 * 3. allowed is what has no side effects, what an `allow` rule speaks of, what the task's mode lets run (`auto`,
 *    `accept-edits`), and what a person's grant reaches;
 * 4. all else is asked.
 *
 * So a mode and a grant are leave like that of an `allow` rule: neither lifts a `deny` or an `ask`.
 */
import type { TaskSettings, ToolSource } from '../../shared/protocol/tool-approval.ts';
import type { Allowance, Verdict } from '../task/events.ts';
import type { Grant } from '../task/grants.ts';
import type { Judged } from './judged-call.ts';
import { modeOf, onlyLooks } from './mode.ts';
import { NO_RULES, type Policy } from './policy.ts';

/** What a call is judged by. */
export interface Judging {
  policy?: Policy;
  settings: TaskSettings;
  grants: readonly Grant[];
}

export function verdict(call: Judged, { policy = NO_RULES, settings, grants }: Judging): Verdict {
  const denied = denial(call, policy);
  if (denied !== undefined) return { type: 'refuse', message: denied };
  if (call.sideEffect !== 'none' && onlyLooks(settings))
    return {
      type: 'refuse',
      message: `This task may only look: ${call.tool} has side effects and was not run.`,
    };
  const asked = asking(call, policy);
  if (asked !== undefined) return { type: 'ask', rule: asked };
  const because = allowance(call, { policy, settings, grants });
  return because === undefined ? { type: 'ask' } : { type: 'allow', because };
}

/** Why no one can let this call run, if a rule says so. */
export function denial(call: Judged, policy: Policy): string | undefined {
  const rule = policy.find(({ action, speaksOf }) => action === 'deny' && speaksOf(call) === 'yes');
  return (
    rule &&
    `The operator of this server does not let this run, by ${rule.name}. It was not run; do not try the same in another form.`
  );
}

/** The rule for which a person is asked, if there is one. */
function asking(call: Judged, policy: Policy): string | undefined {
  for (const { action, name, speaksOf } of policy) {
    if (action === 'allow') continue;
    const mentioned = speaksOf(call);
    if (mentioned === 'maybe') return `${name}, which may be meant: the command cannot be read for certain`;
    if (mentioned === 'yes') return name;
  }
  return undefined;
}

function allowance(call: Judged, { policy = NO_RULES, settings, grants }: Judging): Allowance | undefined {
  if (call.sideEffect === 'none') return { type: 'read-only' };
  const rule = policy.find(({ action, speaksOf }) => action === 'allow' && speaksOf(call) === 'yes');
  if (rule) return { type: 'rule', rule: rule.name };
  const mode = modeOf(settings);
  if (mode === 'auto') return { type: 'auto-execute' };
  if (mode === 'accept-edits' && call.sideEffect === 'files') return { type: 'accept-edits' };
  // Last, so that no use of a grant is spent on what runs anyway.
  const grant = grants.find((given) => reaches(given, call));
  return grant && { type: 'grant', scope: grant.scope, callId: grant.callId, grantId: grant.grantId };
}

function reaches(grant: Grant, call: Judged): boolean {
  switch (grant.scope) {
    case 'always':
      return true;
    case 'server':
      return partyOf(grant.source) === partyOf(call.source);
    case 'tool':
      return grant.tool === call.tool && partyOf(grant.source) === partyOf(call.source);
  }
}

/** The party that offers a tool. A grant for a server is never given for a built-in one. */
function partyOf(source: ToolSource): string {
  switch (source.type) {
    case 'built-in':
      return 'built-in';
    case 'mcp-server':
      return `mcp:${source.server}`;
    case 'acp-agent':
      return `acp:${source.agent}`;
  }
}
