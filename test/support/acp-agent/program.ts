/**
 * A test ACP agent that runs the steps in its prompt: `node program.js <state directory> [mode …]`.
 *
 * The state directory keeps its sessions, so that its next process can resume them, and `prompts.jsonl` with every
 * prompt. Modes: `hang` (never answers), `no-memory` (cannot resume sessions), `resume` (resumes without a replay),
 * `sign-in` (requires a sign-in until `signed-in` is in its state directory), `banner` (prints a line first),
 * `rubbish` (prints only lines that are not ACP).
 */
import {
  agent,
  methods,
  ndJsonStream,
  RequestError,
  type RequestPermissionRequest,
  type AgentContext,
  type SessionUpdate,
  type StopReason,
  type ToolCallContent,
} from '@agentclientprotocol/sdk';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { stepsIn, type Step, type toolCall } from './step.ts';

type ToolCall = z.output<typeof toolCall>;

const [stateDir = '.', ...modes] = process.argv.slice(2);
const memory = z.object({ cwd: z.string(), line: z.string(), next: z.number(), said: z.array(z.string()) });
type Memory = z.infer<typeof memory>;

const USUAL = ['allow_once', 'reject_once'] as const;

/** Ends the step that waits for a cancel. */
let cancel: (() => void) | undefined;
let cancelled = false;
/** True if this process resumed another process's session. */
let takenUp = false;

process.stderr.write('the agent of a test has started\n');
if (modes.includes('banner')) process.stdout.write('Welcome to the agent of a test\n');
if (modes.includes('rubbish')) process.stdout.write(`${'no message at all '.repeat(100)}\n`.repeat(2000));
if (modes.includes('hang')) setInterval(() => undefined, 60_000);
else serve();

function serve(): void {
  agent({ name: 'test-agent' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: !modes.includes('no-memory') && !modes.includes('resume'),
        ...(modes.includes('resume') && { sessionCapabilities: { resume: {} } }),
      },
      authMethods: [{ id: 'key', name: 'A key of the test' }],
    }))
    .onRequest(methods.agent.session.new, ({ params }) => {
      if (modes.includes('sign-in') && !existsSync(join(stateDir, 'signed-in')))
        throw RequestError.authRequired();
      const sessionId = randomUUID();
      remember(sessionId, { cwd: params.cwd, line: '', next: 0, said: [] });
      return { sessionId };
    })
    .onRequest(methods.agent.session.load, async ({ params: { sessionId }, client }) => {
      for (const text of recall(sessionId).said) await say(client, sessionId, text);
      takenUp = true;
      return {};
    })
    .onRequest(methods.agent.session.resume, ({ params: { sessionId } }) => {
      recall(sessionId);
      takenUp = true;
      return {};
    })
    .onNotification(methods.agent.session.cancel, () => {
      cancelled = true;
      cancel?.();
    })
    .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
      const text = prompt.map((block) => (block.type === 'text' ? block.text : '')).join('');
      appendFileSync(join(stateDir, 'prompts.jsonl'), `${JSON.stringify({ sessionId, text })}\n`);
      return { stopReason: await answer(client, sessionId, text) };
    })
    .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}

/**
 * Runs the steps in the text. If the client sends the same line of steps again, continues at the step where it stopped.
 */
async function answer(client: AgentContext, sessionId: string, text: string): Promise<StopReason> {
  cancelled = false;
  const known = recall(sessionId);
  const asked = stepsIn(text);
  const line = asked?.line ?? known.line;
  const all = stepsIn(line)?.steps ?? [];
  let next = line === known.line ? known.next : 0;
  if (all.length === 0) await say(client, sessionId, `You said: ${text}`);
  for (; next < all.length; next += 1) {
    const taken = all[next];
    // The client already has the words of a `say` step. So a killed agent must not say them again.
    const said = taken !== undefined && 'say' in taken;
    remember(sessionId, { ...recall(sessionId), line, next: said ? next + 1 : next });
    const end = taken && (await take(client, sessionId, taken));
    if (end) {
      remember(sessionId, { ...recall(sessionId), line, next: next + 1 });
      return end;
    }
  }
  remember(sessionId, { ...recall(sessionId), line, next });
  return 'end_turn';
}

/** @returns the stop reason if the answer ends with this step */
async function take(client: AgentContext, sessionId: string, step: Step): Promise<StopReason | undefined> {
  if ('say' in step) await say(client, sessionId, step.say);
  else if ('think' in step)
    await update(client, sessionId, {
      sessionUpdate: 'agent_thought_chunk',
      content: { type: 'text', text: step.think },
    });
  else if ('plan' in step)
    await update(client, sessionId, {
      sessionUpdate: 'plan',
      entries: step.plan.map((entry) => ({ ...entry, priority: 'medium' as const })),
    });
  else if ('tool' in step) await work(client, sessionId, step.tool);
  else if ('ask' in step) return ask(client, sessionId, step.ask);
  else if ('nest' in step) return ask(client, sessionId, [step.nest.outer], step.nest.inner);
  else if ('die' in step) die(step.die);
  else if ('longLine' in step) await print('x'.repeat(step.longLine * 1024 * 1024), '{');
  else if ('rubbish' in step) await print('no message\n'.repeat(step.rubbish * 100_000), '');
  else if ('hang' in step) {
    if (step.hang === 'in-first-process' && takenUp) return undefined;
    await new Promise<void>((resolve) => {
      if (step.hang === 'deaf') process.on('SIGTERM', () => undefined);
      else if (step.hang !== 'until-sigterm') cancel = resolve;
    });
    return 'cancelled';
  } else if ('stop' in step) return step.stop;
  else throw new RequestError(-32_603, step.fail);
  return undefined;
}

async function ask(
  client: AgentContext,
  sessionId: string,
  calls: ToolCall[],
  within?: ToolCall,
): Promise<StopReason | undefined> {
  const outcomes = await Promise.all(
    calls.map(async (call) => {
      const request: RequestPermissionRequest = {
        sessionId,
        toolCall: about(call),
        options: (call.options ?? USUAL).map((kind) => ({
          optionId: kind,
          name: kind,
          kind,
        })),
      };
      const { outcome } = await client.request(methods.client.session.requestPermission, request);
      return { call, outcome };
    }),
  );
  if (outcomes.some(({ outcome }) => outcome.outcome === 'cancelled')) return 'cancelled';
  for (const { call, outcome } of outcomes) {
    const option = outcome.outcome === 'selected' ? outcome.optionId : 'none';
    appendFileSync(join(stateDir, 'answers.jsonl'), `${JSON.stringify({ id: call.id, option })}\n`);
    if (option.startsWith('allow')) {
      if (within) await ask(client, sessionId, [within]);
      await work(client, sessionId, call);
    } else await say(client, sessionId, `Not allowed: ${call.title}. `);
    if (cancelled) return 'cancelled';
  }
  return undefined;
}

async function work(client: AgentContext, sessionId: string, call: ToolCall): Promise<void> {
  await update(client, sessionId, {
    sessionUpdate: 'tool_call',
    ...about(call),
    title: call.title,
    status: 'in_progress',
  });
  let text = '';
  for (const piece of call.output) {
    text += piece;
    await update(client, sessionId, {
      sessionUpdate: 'tool_call_update',
      toolCallId: call.id,
      content: contentOf(call, text),
    });
  }
  if (call.effect !== undefined)
    appendFileSync(join(recall(sessionId).cwd, 'effects.txt'), `${call.effect}\n`);
  if (call.diff && call.writes !== undefined) writeDiff(call.diff, call.writes);
  if (call.end === 'dies') die(9);
  if (call.end === 'never') await new Promise<void>((resolve) => (cancel = resolve));
  if (call.end === 'completed' || call.end === 'failed')
    await update(client, sessionId, {
      sessionUpdate: 'tool_call_update',
      toolCallId: call.id,
      status: call.end,
    });
}

function writeDiff({ path, oldText, newText }: NonNullable<ToolCall['diff']>, writes: 'file' | 'part'): void {
  if (writes === 'file') return writeFileSync(path, newText);
  const text = readFileSync(path, 'utf8');
  if (oldText === null || !text.includes(oldText)) throw new Error(`${path} has no such text`);
  writeFileSync(
    path,
    text.replace(oldText, () => newText),
  );
}

function about({ id, kind, title, rawInput, locations, ...call }: ToolCall) {
  const content = contentOf({ ...call, id, kind, title }, '');
  return {
    toolCallId: id,
    kind,
    title,
    ...(rawInput !== undefined && { rawInput }),
    ...(locations && { locations: locations.map((path) => ({ path })) }),
    ...(content.length > 0 && { content }),
  };
}

function contentOf({ diff }: ToolCall, text: string): ToolCallContent[] {
  return [
    ...(diff ? [{ type: 'diff' as const, ...diff }] : []),
    ...(text === '' ? [] : [{ type: 'content' as const, content: { type: 'text' as const, text } }]),
  ];
}

async function say(client: AgentContext, sessionId: string, text: string): Promise<void> {
  const known = recall(sessionId);
  remember(sessionId, { ...known, said: [...known.said, text] });
  await update(client, sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
}

async function update(client: AgentContext, sessionId: string, it: SessionUpdate): Promise<void> {
  await client.notify(methods.client.session.update, { sessionId, update: it });
}

/** Prints text that is not ACP. */
async function print(text: string, first: string): Promise<void> {
  await new Promise<void>((resolve) => {
    process.stdout.write(first + text, () => resolve());
  });
}

function die(code: number): never {
  process.stderr.write('the agent of a test has had enough\n');
  process.exit(code);
}

function recall(sessionId: string): Memory {
  const path = join(stateDir, `${sessionId}.json`);
  if (!existsSync(path)) throw RequestError.sessionNotFound(sessionId);
  return memory.parse(JSON.parse(readFileSync(path, 'utf8')));
}

function remember(sessionId: string, known: Memory): void {
  writeFileSync(join(stateDir, `${sessionId}.json`), JSON.stringify(known));
}
