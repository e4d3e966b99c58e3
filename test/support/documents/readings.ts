/** How a test runs each block of the documents, and why it does not run the others. */
import { readPackageVersion } from '../../../shared/runtime/version.ts';
import { cliReadings } from './cli-readings.ts';
import { notRun, type Readings } from './reading.ts';

/** The server prints this when it is ready. */
const READY = /is ready at (\S+)/;
const VERSION = readPackageVersion();
const HELLO = 'mcp-a2a-bridge run --detach "Create test.md with hello"';
/** The session of `HELLO`, by the id in the documents. */
const SESSION = { 'session-9d41c07e': /(session-[0-9a-f-]{8})/ };
/** The examples of a server in a directory of its own. */
const OWN_SERVER = { '/tmp/': '~/tmp/', '--workspace /tmp': '--workspace "$HOME/work"' };

/** Replaces programs that run a command beside a service. These scripts run the command on this machine. */
const BESIDE_A_SERVICE = {
  sudo: 'shift 2; exec "$@"',
  docker: 'until [ "$1" = a2a-server ] || [ "$1" = server ]; do shift; done; shift; exec "$@"',
  kubectl: 'until [ "$1" = -- ]; do shift; done; shift; exec "$@"',
};

export const READINGS: Readonly<Record<string, Readings>> = {
  'README.md': {
    // The tests run in an installed clone.
    Install: { programs: { npm: 'exit 0' }, prints: /"a2a-bridge"[^]*Written to/ },
    'First task': {
      // In the document, the MCP client delegates the task.
      before: HELLO,
      replace: SESSION,
      prints: /Create test\.md with hello[^]*\+hello[^]*Approved/,
    },
    'Choose a model': { around: ['provider'], prints: /✓ anthropic:claude-sonnet-4-5 answers/ },
  },
  'docs/access.md': {
    'Issue tokens': { replace: { '4f0c9a17b2de': /^([0-9a-f]{12}) /m }, prints: /is revoked since/ },
    'The audit log': {
      before: 'a2a-server token create --name ann',
      prints: /token\.created[^]*"token\.created"/,
    },
  },
  'docs/acp-agents.md': {
    'ACP agents': {
      around: ['geminiCli'],
      goesOn: READY,
      use: 'mcp-a2a-bridge run "hello"',
      prints: /You said: hello/,
    },
  },
  'docs/agents.md': {
    'Signed cards': {
      goesOn: READY,
      use: "curl -fsS -H 'A2A-Version: 1.0' SERVER/.well-known/agent-card.json",
      replace: { SERVER: READY },
      prints: /"signatures":\[\{/,
    },
    "gemini-cli's a2a-server": notRun('it installs a package of the registry'),
  },
  'docs/approvals.md': {
    'The page': [
      { prints: /http:\/\/127\.0\.0\.1:\d+\/page/ },
      {
        before: `${HELLO} --json\nmcp-a2a-bridge show session- --json\nmcp-a2a-bridge server status\nTOKEN=$(cat "$HOME/.local/state/mcp-a2a-bridge/token")`,
        replace: {
          '"taskId": "…"': /("taskId": ?"[^"]+")/,
          '"callId": "…"': /("callId": ?"[^"]+")/,
          'http://127.0.0.1:41242': /running at (\S+),/,
        },
        prints: /"url": ?"http\S+page#code=/,
      },
    ],
  },
  'docs/backup.md': {
    Backup: {
      before: `echo hi > test.md\n${HELLO}\nmcp-a2a-bridge show session-\nmcp-a2a-bridge approve 4f2ac901\nmcp-a2a-bridge watch session-\n${HELLO}\n${HELLO}`,
      replace: { '/srv/a2a': '~/srv/a2a' },
    },
  },
  'docs/benchmarks.md': {
    Benchmarks: notRun('it takes about five minutes; test/unit/bench tests the parts'),
  },
  'docs/cli.md': cliReadings,
  'docs/clients.md': {
    'Packages for MCP clients': { clone: true, prints: /Written to \S+\/client-packages/ },
    'How they are made': {
      clone: true,
      replace: { '<owner>': 'ada', '<name>': 'bridge', '1.0.0': VERSION },
      prints: /Written to \S+\/client-packages/,
    },
  },
  'docs/commands.md': {
    'From an MCP client and from a terminal': {
      before: `echo hello > README.md\n${HELLO}\nmcp-a2a-bridge show session-\nmcp-a2a-bridge approve 4f2ac901\nmcp-a2a-bridge watch session-`,
      replace: {
        '4f2a91bc.3': /\b([0-9a-f]{8}\.1)\b/,
        '4f2a91bc.1': /\b([0-9a-f]{8}\.1)\b/,
        '77aa': /session-([0-9a-f]{8})/,
      },
      // The offline model cannot do what `init` asks.
      exits: { 'checkpoint restore': 6, 'command init': 5 },
    },
  },
  'docs/deploy.md': {
    'A container': notRun('it needs Docker; `npm run test:containers` does the same with podman'),
    'Compose, with PostgreSQL': notRun('it needs Docker'),
    Kubernetes: notRun('it needs a cluster'),
    systemd: notRun('it needs systemd and root'),
    Clients: {
      replace: { 'TOKEN=…': 'TOKEN=a-token-of-ann' },
      prints: /"--agent-url",\n\+ +"http:\/\/127\.0\.0\.1:41242"[^]*Written to/,
    },
    'Commands beside the service': [
      {
        programs: BESIDE_A_SERVICE,
        replace: { '/var/lib/a2a-server': '~/service' },
      },
      // `passkey add` needs a terminal.
      { exits: { 'passkey add': 1 } },
    ],
    'Rules, limits and a reload': notRun(
      'it needs the service; test/e2e/server/reload.test.ts tests a reload',
    ),
  },
  'docs/guides.md': {
    'Delegate from a terminal': { replace: SESSION, prints: /hello$/ },
    'Approve from a phone': { around: ['phone'], prints: /✓ approval webhook/ },
    'Use gemini-cli, Claude or Codex as the worker': [
      {
        around: ['geminiCli'],
        goesOn: READY,
        use: 'mcp-a2a-bridge run "hello"',
        prints: /You said: hello/,
      },
      { around: ['geminiServer'], prints: /dialect gemini[^]*Written to/ },
    ],
    'Several agents': [
      { around: ['teamAgent'] },
      { prints: /Team coder[^]*Written to/ },
      { prints: /here \(default\)[^]*approvals +yes/ },
    ],
    'A server for a team': [
      { prints: /team\/bob +approve[^]*token\.created/ },
      { around: ['teamAgent'], prints: /Team coder[^]*Written to/ },
    ],
    'Your own A2A client': { prints: /TASK_STATE_INPUT_REQUIRED/ },
  },
  'docs/http.md': {
    'The bridge over HTTP': {
      goesOn: /(http:\/\/127\.0\.0\.1:\d+\/mcp)/,
      use: `curl -isS -X POST SERVER -H "Authorization: Bearer $(cat "$HOME/.local/state/mcp-a2a-bridge/http-token")" -H 'Accept: application/json, text/event-stream' -H 'Content-Type: application/json' -d '${JSON.stringify(initialize())}'`,
      // The usual port may be in use on this machine.
      replace: { '--http --no': '--http 0 --no', SERVER: /(http:\/\/127\.0\.0\.1:\d+\/mcp)/ },
      prints: /"serverInfo"/,
    },
  },
  'docs/jobs.md': {
    'Jobs: what a model achieves under approvals': notRun(
      'it takes minutes, and needs a key; test/e2e/tasks.test.ts runs the jobs',
    ),
  },
  'docs/models.md': {
    Models: [
      {
        around: ['provider'],
        programs: { pass: 'echo a-key-of-the-reader' },
        prints: /ollama:qwen3 answers[^]*openai-compatible:my-model answers/,
      },
      { goesOn: READY },
    ],
  },
  'docs/monitoring.md': {
    OTLP: { around: ['collector'], goesOn: READY, use: 'mcp-a2a-bridge run "say hello"' },
  },
  'docs/policies.md': {
    'A dry run': {
      before: [
        `mcp-a2a-bridge run --detach '{"plan": [{"together": [{"tool": "append-file", "input": {"path": "a.md", "content": "a"}}, {"tool": "run-shell-command", "input": {"command": "git push"}}]}]}'`,
        'mcp-a2a-bridge show session-',
        'mcp-a2a-bridge approve APPEND',
        'mcp-a2a-bridge deny PUSH',
        `echo '[{"action": "allow", "path": "*.md"}, {"action": "deny", "command": "git push"}]' > rules.json`,
      ].join('\n'),
      replace: {
        APPEND: /a\.md  call \S+ code ([0-9a-f]{8})/,
        PUSH: /git push`  call \S+ code ([0-9a-f]{8})/,
      },
    },
  },
  'docs/preview.md': {
    '`a2a-1.1`: the generation of a task': [
      {
        replace: { ...OWN_SERVER, '--port 41300': '--port 0', 'http://127.0.0.1:41300': READY },
        goesOn: READY,
      },
      { prints: /"generation"[^]*TASK_STATE_COMPLETED[^]*TASK_STATE_COMPLETED/ },
    ],
    '`mcp-tasks-stream`: the events of a task over MCP': {
      input: JSON.stringify(initialize()),
      prints: /eventStreams/,
    },
  },
  'docs/push.md': {
    'Push notifications': {
      around: ['failingReceiver'],
      before: [
        `${HELLO} --json`,
        'SERVER=$(mcp-a2a-bridge server status --json | node -p \'JSON.parse(require("fs").readFileSync(0)).url\')',
        'TOKEN=$(cat "$HOME/.local/state/mcp-a2a-bridge/token") TASK=TASK_ID',
      ].join('\n'),
      replace: { TASK_ID: /"(task-[^"]+)"/ },
      prints: /"url":"http\S+\/hook","authentication":\{"scheme":"Bearer"\}/,
    },
    'Replace the key': { continues: true, prints: /A new key is published[^]*A new key signs from now on/ },
    'Receivers that fail': {
      continues: true,
      before: 'until a2a-server push failing | grep retrying; do :; done',
      replace: { '3f9c1b20': /^([0-9a-f]{12}) +retrying/m },
      prints: /tries \S+ again/,
    },
  },
  'docs/receipts.md': {
    Receipts: {
      before: 'mcp-a2a-bridge run "say hello"',
      replace: { 'task-3f2a': /(task-[0-9a-f-]{36})/, '3f2a': /session-([0-9a-f]{8})/ },
    },
  },
  'docs/reliability.md': {
    'Run it': notRun('it takes minutes; test/e2e/faults.test.ts runs a short part'),
    'Small faults in the core': notRun('it takes minutes; test/mutants tests the parts'),
  },
  'docs/resumable-stream.md': {
    'The plain stream': {
      // The test waits until the server is ready.
      programs: { sleep: 'exit 0' },
      replace: { ...OWN_SERVER, 'http://127.0.0.1:41242': READY },
      prints: /COMPLETED[^]*COMPLETED[^]*COMPLETED/,
    },
    'Tickets, for a browser': { continues: true, prints: /"ticket": ?"\S+expiresAt/ },
  },
  'docs/scaling.md': {
    'Set it up': {
      around: ['postgres'],
      replace: { 'PGPASSWORD=…': 'PGPASSWORD=a-password' },
      goesOn: READY,
    },
    'Back up': notRun('it needs the client programs of PostgreSQL, of the version of the server'),
  },
  'docs/scripted-agent.md': {
    'The scripted agent': {
      goesOn: READY,
      use: 'mcp-a2a-bridge run "The report, please"',
      prints: /All is well/,
    },
  },
  'docs/tools.md': {
    'Confining the shell': { programs: { bwrap: 'exec true' }, goesOn: READY },
    'Reading the web': { goesOn: READY },
  },
  'docs/upgrade.md': {
    'One server, on SQLite': [
      { before: HELLO, programs: { git: 'exit 0', npm: 'exit 0' } },
      { before: 'rm before-upgrade.backup', prints: /Stopped/ },
    ],
  },
};

function initialize(): object {
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'reader', version: '1' },
    },
  };
}
