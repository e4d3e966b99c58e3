/**
 * Writes a receipt as Markdown. Text of an agent or a client appears only in code spans and code blocks, so it cannot
 * imitate the receipt's own words.
 */
import { passkeyFingerprint } from '../presence/presence-proof.ts';
import { quotedPreview, toolSourceText } from '../protocol/preview-text.ts';
import { tokensAndPriceText } from '../text/cost-text.ts';
import { knownChannelText } from '../text/channel-text.ts';
import { LOCAL_USER } from '../text/decided-by-text.ts';
import { visibleLine, visibleText } from '../text/visible-text.ts';
import type { Receipt, ReceiptAction, ReceiptRun } from './receipt.ts';

type ReceiptDecision = ReceiptAction['decisions'][number];
type Message = Receipt['messages'][number];

const OUTCOMES: Readonly<Record<ReceiptRun['outcome'], string>> = {
  running: 'still running',
  ok: 'succeeded',
  error: 'failed',
  stopped: 'stopped',
  unknown: 'outcome unknown',
};

const DECISIONS: Readonly<Record<ReceiptDecision['decision'], string>> = {
  approve: 'Approved',
  deny: 'Denied',
  edit: 'Approved with a changed input',
  answer: 'Answered',
};

export function receiptMarkdown(receipt: Receipt): string {
  const { task, messages, actions, revocations, cost, journal, server } = receipt;
  const { usd, requests, models, ...tokens } = cost;
  const cancelled = task.cancelledBy === null ? '' : ` ${byPrincipal(task.cancelledBy)}`;
  return [
    `# Receipt of task ${codeSpan(task.taskId)}`,
    list([
      `State: ${codeSpan(task.state)}${cancelled} at ${task.updatedAt}`,
      `Asked by: ${codeSpan(task.principal)} at ${task.createdAt}`,
      `Session: ${codeSpan(task.sessionId)}`,
      ...(task.workspace === null ? [] : [`Workspace: ${codeSpan(task.workspace)}`]),
      ...(models.length === 0 ? [] : [`Model: ${models.map(codeSpan).join(', ')}`]),
      ...(requests === 0 ? [] : [`Cost: ${tokensAndPriceText({ ...tokens, usd })}`]),
    ]),
    ...(task.message === '' ? [] : ['Final message:', codeBlock(task.message)]),
    '## Messages',
    ...messages.map(messageSection),
    '## Actions',
    ...(actions.length === 0 ? ['The agent proposed no action.'] : actions.map(actionSection)),
    ...(revocations.length === 0 ? [] : ['## Revoked grants']),
    ...revocations.map(
      (each) => `Revoked ${byPrincipal(each)} at ${each.at}: ${each.grantIds.map(codeSpan).join(', ')}`,
    ),
    '## Proof',
    `The journal of the task has ${journal.events} events. The SHA-256 chain over them ends with ${codeSpan(journal.hash)}.`,
    `Written by a2a-server ${server.version}. The last line of this file is its Ed25519 signature. To check it, run ${codeSpan('mcp-a2a-bridge verify-receipt FILE')}.`,
    '',
  ].join('\n\n');
}

function messageSection({ at, messageId, channel, text, files }: Message): string {
  return [
    `${at}, channel ${codeSpan(channel)}, message ${codeSpan(messageId)}:`,
    codeBlock(text),
    ...(files.length === 0
      ? []
      : [
          list(
            files.map(
              (file) => `File ${codeSpan(file.name)}, ${file.mediaType}, SHA-256 ${codeSpan(file.hash)}`,
            ),
          ),
        ]),
  ].join('\n\n');
}

function actionSection(action: ReceiptAction, index: number): string {
  const { callId, tool, title, requestedAt, inputHash, policy, questions, decisions, runs } = action;
  const asked = questions.at(-1);
  return [
    `### ${index + 1}. ${codeSpan(title)}`,
    list([
      `Tool: ${codeSpan(tool)} (${codeSpan(toolSourceText(action.source))}), call ${codeSpan(callId)}`,
      `Requested at ${requestedAt}, input SHA-256 ${codeSpan(inputHash)}`,
      `Policy: ${codeSpan(policy)}`,
      ...questions.map(
        ({ at, shown, reason }) => `Shown at ${at}: code ${codeSpan(shown)}, reason ${codeSpan(reason)}`,
      ),
      ...decisions.map(decisionLine),
      ...runs.flatMap(runLines),
    ]),
    // If no question was asked, no person saw a preview. The receipt then contains the input of the call.
    asked === undefined
      ? codeBlock(JSON.stringify(action.input, null, 2))
      : fencedText(quotedPreview({ ...action, preview: asked.preview }).text),
    ...decisions.flatMap(({ edited }) =>
      edited === null
        ? []
        : [
            `The person changed the input to ${codeSpan(edited.title)}:`,
            codeBlock(JSON.stringify(edited.input, null, 2)),
          ],
    ),
  ].join('\n\n');
}

function decisionLine(decision: ReceiptDecision): string {
  const { at, shown, scope, grant, reason, answer, edited, presence } = decision;
  const limits = [
    ...(grant?.minutes === undefined ? [] : [`${grant.minutes} minutes`]),
    ...(grant?.uses === undefined ? [] : [`${grant.uses} uses`]),
  ];
  return [
    `**${DECISIONS[decision.decision]}** ${byPrincipal(decision)} at ${at}`,
    ...(shown === null ? [] : [`code ${codeSpan(shown)}`]),
    ...(scope === 'once'
      ? []
      : [`scope ${codeSpan(scope)}${limits.length === 0 ? '' : ` (${limits.join(', ')})`}`]),
    ...(reason === null ? [] : [`reason ${codeSpan(reason)}`]),
    ...(answer === null
      ? []
      : [`answer ${codeSpan(typeof answer === 'string' ? answer : JSON.stringify(answer))}`]),
    ...(edited === null ? [] : [`new input SHA-256 ${codeSpan(edited.inputHash)}`]),
    ...(presence === undefined
      ? []
      : [
          `with the passkey ${codeSpan(presence.passkey.name)} ${codeSpan(passkeyFingerprint(presence.passkey.publicKey))} on ${codeSpan(presence.rpId)}`,
        ]),
  ].join(', ');
}

function runLines({ toolId, startedAt, endedAt, outcome, text, files }: ReceiptRun): string[] {
  return [
    `Ran from ${startedAt} to ${endedAt ?? '…'}, run ${codeSpan(toolId)}: **${OUTCOMES[outcome]}**${text === '' ? '' : ` ${codeSpan(text)}`}`,
    ...files.map(
      ({ path, before, after }) => `File ${codeSpan(path)}: ${hashText(before)} → ${hashText(after)}`,
    ),
  ];
}

function hashText(hash: string | null): string {
  return hash === null ? 'no saved content' : `SHA-256 ${codeSpan(hash)}`;
}

function byPrincipal({ principal, channel }: { principal: string; channel: string }): string {
  const who = principal === LOCAL_USER ? 'the local user' : codeSpan(principal);
  return `by ${who} ${knownChannelText(channel) ?? `over ${codeSpan(channel)}`}`;
}

const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');

/** Returns a code span (CommonMark §6.1). Its delimiter is longer than each run of backticks in the text. */
function codeSpan(text: string): string {
  const line = visibleLine(text);
  const ticks = '`'.repeat(longestRun(line) + 1);
  const padding = line.startsWith('`') || line.endsWith('`') || line === '' ? ' ' : '';
  return `${ticks}${padding}${line}${padding}${ticks}`;
}

function codeBlock(text: string): string {
  return fencedText(visibleText(text));
}

/**
 * Returns a fenced code block (CommonMark §4.5). Its fence is longer than each run of backticks in the text. Hidden
 * characters must already be escaped. To escape them again would change the escapes that the person saw.
 */
function fencedText(shown: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  return `${fence}text\n${shown}\n${fence}`;
}

function longestRun(text: string): number {
  let longest = 0;
  // X3: this is a loop, because a text may have more runs than `Math.max` accepts arguments.
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
