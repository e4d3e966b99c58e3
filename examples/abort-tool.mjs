// Hands a task to an agent over MCP. Enter stops the tool that runs just now: the task goes on without it.
//
//   node dist/bridge/main.js --http --no-stdio &
//   MCP_TOKEN=$(cat ~/.local/state/mcp-a2a-bridge/http-token) node examples/abort-tool.mjs "wait 60 seconds"
//
// MCP_URL says where the bridge is, if not at http://127.0.0.1:41243/mcp.
import { createInterface } from 'node:readline';
import { McpClient } from 'mcp-a2a-bridge/client';

const { MCP_URL: url = 'http://127.0.0.1:41243/mcp', MCP_TOKEN: token } = process.env;
const text = process.argv.slice(2).join(' ') || 'wait 60 seconds';
const say = (words) => void process.stdout.write(`${words}\n`);

const client = new McpClient({ url, token });
const execution = client.start({ text, workspace: process.cwd() }, { onProgress });

const terminal = createInterface({ input: process.stdin });
terminal.on('line', () => stopTools().catch((error) => say(`[${error.message}]`)));

function onProgress(progress) {
  if (progress.type === 'note') say(`[${progress.message}]`);
  if (progress.type !== 'state') return;
  const { state, tools } = progress.report;
  say(`[${[state, ...tools.map(({ toolId, title }) => `${toolId} runs: ${title}`)].join('; ')}]`);
  if (state !== 'waiting') return;
  // client-node.mjs shows how a person is asked.
  say('[It waits for a person, whom this example does not ask.]');
  execution.cancel('nobody was asked').catch((error) => say(`[${error.message}]`));
}

/** Those of this task alone: the bridge lists what runs in every session it knows. */
async function stopTools() {
  for (const { toolId, sessionId } of await client.tools()) {
    if (sessionId !== execution.report?.sessionId) continue;
    const { success, message } = await client.abortTool(toolId, 'Enter was pressed');
    say(`[${success ? 'stopped' : 'not stopped'}: ${message}]`);
  }
}

try {
  const { state, output } = await execution.result;
  say(output);
  process.exitCode = state === 'completed' ? 0 : 1;
  await client.close();
} catch (error) {
  say(`[${error.message}]`);
  process.exitCode = 2;
} finally {
  terminal.close();
}
