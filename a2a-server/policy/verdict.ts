/**
 * Computes policy's verdict on a call: run it, ask a person, or refuse it. Pure.
 *
 * `deny` has precedence over `ask`, and `ask` over `allow`. The order of the rules has no influence: 1. A `deny` rule
 * refuses the call. A read-only task refuses every call with side effects. 2. An `ask` rule asks. A `deny` rule with an
 * uncertain match (`maybe`) also asks. 3. These calls run: read-only calls, calls that match an `allow` rule, calls
 * that the task's mode allows (`auto`, `accept-edits`), and calls that a person's grant covers. 4. All other calls wait
 * for a decision.
 *
 * So a mode or a grant has the strength of an `allow` rule: it never overrides `deny` or `ask`.
 */
import type { TaskSettings, ToolSource } from '../../shared/protocol/tool-approval.ts';
import type { AllowReason, PolicyVerdict } from '../task/events.ts';
import type { Grant } from '../task/grants.ts';
import type { JudgedCall } from './judged-call.ts';
import { taskModeOf, isReadOnlyMode } from './mode.ts';
import { NO_RULES, type Policy } from './prepare-rules.ts';

/** The policy, settings and grants that apply to a call. */
interface PolicyContext {
  policy?: Policy;
  settings: TaskSettings;
  grants: readonly Grant[];
}

export function verdict(
  call: JudgedCall,
  { policy = NO_RULES, settings, grants }: PolicyContext,
): PolicyVerdict {
  const denied = denyMessage(call, policy);
  if (denied !== undefined) return { type: 'refuse', message: denied };
  if (call.sideEffect !== 'none' && isReadOnlyMode(settings))
    return {
      type: 'refuse',
      message: `This task is read-only: ${call.tool} has side effects and was not run.`,
    };
  const asked = asking(call, policy);
  if (asked !== undefined) return { type: 'ask', rule: asked };
  const because = allowance(call, { policy, settings, grants });
  return because === undefined ? { type: 'ask' } : { type: 'allow', because };
}

/** Returns the message for the model if a deny rule matches the call. Otherwise undefined. */
export function denyMessage(call: JudgedCall, policy: Policy): string | undefined {
  const rule = policy.find(({ action, matches }) => action === 'deny' && matches(call) === 'yes');
  return (
    rule &&
    `The operator of this server forbids this call: ${rule.name}. It was not run. Do not try the same in another form.`
  );
}

/** Returns the name of the rule that requires a person's decision, if any. */
function asking(call: JudgedCall, policy: Policy): string | undefined {
  for (const { action, name, matches } of policy) {
    if (action === 'allow') continue;
    const mentioned = matches(call);
    if (mentioned === 'maybe') return `${name}, which may match: the meaning of the command is uncertain`;
    if (mentioned === 'yes') return name;
  }
  return undefined;
}

function allowance(
  call: JudgedCall,
  { policy = NO_RULES, settings, grants }: PolicyContext,
): AllowReason | undefined {
  if (call.sideEffect === 'none') return { type: 'read-only' };
  const rule = policy.find(({ action, matches }) => action === 'allow' && matches(call) === 'yes');
  if (rule) return { type: 'rule', rule: rule.name };
  const mode = taskModeOf(settings);
  if (mode === 'auto') return { type: 'auto-execute' };
  if (mode === 'accept-edits' && call.sideEffect === 'files') return { type: 'accept-edits' };
  // Check grants last. A call that runs without a grant must not spend a use of a grant.
  const grant = grants.find((given) => reaches(given, call));
  return grant && { type: 'grant', scope: grant.scope, callId: grant.callId, grantId: grant.grantId };
}

function reaches(grant: Grant, call: JudgedCall): boolean {
  switch (grant.scope) {
    case 'always':
      return true;
    case 'server':
      return partyOf(grant.source) === partyOf(call.source);
    case 'tool':
      return grant.tool === call.tool && partyOf(grant.source) === partyOf(call.source);
  }
}

/**
 * Returns the MCP server or ACP agent of a tool, for a grant with the scope `server`. Such a grant never covers a
 * built-in tool.
 */
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
