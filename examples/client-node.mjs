// Hands a task to an agent, asks you about each risky step, and ends it all on Ctrl-C.
//
//   A2A_TOKEN=$(cat ~/.local/state/mcp-a2a-bridge/token) node examples/client-node.mjs "create test.md with hello"
//
// A2A_URL says where the agent is, if not at http://127.0.0.1:41242.
import { createInterface } from 'node:readline';
import { A2aClient, ClientError } from 'mcp-a2a-bridge/client';

const { A2A_URL: url = 'http://127.0.0.1:41242', A2A_TOKEN: token } = process.env;
const text = process.argv.slice(2).join(' ') || 'create test.md with hello';
const say = (words) => void process.stdout.write(words);

const client = new A2aClient({ url, token });
const stop = new AbortController();
process.once('SIGINT', () => stop.abort('Ctrl-C'));

const terminal = createInterface({ input: process.stdin });
const answers = terminal[Symbol.asyncIterator]();
terminal.once('SIGINT', () => stop.abort('Ctrl-C'));

const execution = client.start({ text, workspace: process.cwd() }, { signal: stop.signal, onProgress });

/** Prints the progress, and asks you when the task waits. */
function onProgress(progress) {
  if (progress.type === 'text') say(progress.text);
  if (progress.type === 'activity' && progress.activity.type === 'tool.started')
    say(`\n[${progress.activity.toolId} runs: ${progress.activity.title}]\n`);
  if (progress.type === 'reconnecting') say('\n[the connection was lost; trying again]\n');
  if (progress.type === 'state' && progress.report.state === 'waiting') void ask(progress.report);
}

async function ask({ pending, question }) {
  if (question !== null) {
    say(`\n${question}\n> `);
    const { value = '' } = await answers.next();
    await execution.say(value);
    return;
  }
  const decisions = [];
  for (const { callId, shown, title, preview } of pending) {
    say(
      `\n${title}\n${preview.diff ?? preview.command ?? preview.url ?? preview.text ?? JSON.stringify(preview.value, null, 2)}\napprove? [y/n] `,
    );
    const { value } = await answers.next();
    decisions.push({ callId, shown, decision: value?.trim() === 'y' ? 'approve' : 'deny' });
  }
  await execution.decide(...decisions);
}

try {
  const { state, message } = await execution.result;
  say(`\n[${state}${message === '' ? '' : `: ${message}`}]\n`);
  process.exitCode = state === 'completed' ? 0 : 1;
} catch (error) {
  say(`\n[${error instanceof ClientError ? error.code : 'error'}: ${error.message}]\n`);
  process.exitCode = 2;
} finally {
  terminal.close();
}
