/** How a test runs the transcripts of docs/cli.md. */
import { askPerson, plan, write } from '../offline-plan.ts';
import type { Readings } from './reading.ts';

const HELLO = delegate('Create test.md with hello');
const SESSION = /session-([0-9a-f]{8})/;

export const cliReadings: Readings = {
  'install, uninstall': {},
  doctor: {
    around: ['provider'],
    before: [
      'mcp-a2a-bridge model set anthropic:claude-sonnet-4-5',
      'mcp-a2a-bridge install gemini',
      'mcp-a2a-bridge server start',
      'chmod 644 "$HOME/.local/state/mcp-a2a-bridge/token"',
    ].join('\n'),
    exits: { doctor: 1 },
  },
  agents: [{ around: ['teamAgent'], types: { '[y/N]': 'y' } }, { around: ['registry'] }],
  probe: { around: ['teamAgent'], types: { '[y/N]': 'y' }, exits: { probe: 1 } },
  model: { around: ['provider', 'ollama'], before: 'mcp-a2a-bridge server start' },
  tasks: { before: `mcp-a2a-bridge run "say hello"\n${HELLO}` },
  inbox: {
    before: [
      delegate('say hello'),
      HELLO,
      'until mcp-a2a-bridge inbox | tr "\\n" " " | grep "input-required.*completed"; do :; done',
    ].join('\n'),
  },
  'receipt and verify-receipt': {
    before: 'mcp-a2a-bridge run "say hello"',
    replace: { 'task-3f2a': /task (task-[0-9a-f-]{36})/, '3f2a': SESSION },
  },
  cost: {
    around: ['pricedProvider'],
    before: [
      'mcp-a2a-bridge run "Create test.md with hello"',
      'mcp-a2a-bridge model set ollama:qwen3 --no-try',
      'mcp-a2a-bridge run "say hello"',
    ].join('\n'),
  },
  run: { types: { 'leaves it waiting:': 'y' } },
  watch: {
    before: `${HELLO}\nmcp-a2a-bridge show session-\nmcp-a2a-bridge approve CODE`,
    replace: { b615: SESSION, CODE: /code ([0-9a-f]{8})/ },
  },
  show: [
    {
      before: `mcp-a2a-bridge run --detach "run \\\`npm test$(printf '%25000s' ''); echo HIDDEN\\\`"\nmcp-a2a-bridge show session-`,
      replace: { 'call-9d21': /(call-[0-9a-f]{12})/ },
    },
    {
      continues: false,
      around: ['pricedProvider'],
      before: 'mcp-a2a-bridge run "Create test.md with hello"',
      replace: { b615: SESSION },
    },
  ],
  'approve, deny': [
    {
      before: HELLO,
      replace: { b615: SESSION, 'call-f447': /(call-[0-9a-f]{12})/ },
      types: { '[y/N]': 'y' },
    },
    { exits: { approve: 4 } },
  ],
  revoke: {
    before: [
      delegate(plan(write('a.md', 'a'), askPerson('Go on?', ['yes', 'no']))),
      'mcp-a2a-bridge show session-',
    ].join('\n'),
    replace: { '3f9ac2d1': /code ([0-9a-f]{8})/, b615: SESSION, g9: /Trusted (g\d+)/ },
  },
  edit: {
    before: delegate('Create notes.md with hello'),
    programs: { nano: 'printf goodbye > "$1"' },
    replace: { '7aaa': SESSION },
    types: { '[y/N]': 'y' },
  },
  answer: [
    {
      around: ['greeter'],
      before: 'mcp-a2a-bridge run --agent greeter hi',
      replace: { '83a2e6d2': /answer ([0-9a-f]{8})/ },
      exits: { 'run ': 6 },
    },
    {
      continues: false,
      before: [
        delegate(plan(askPerson('Which colour?', ['red', 'light blue']))),
        'mcp-a2a-bridge show session-',
      ].join('\n'),
      replace: { '1db14ca6': /code ([0-9a-f]{8})/ },
      exits: { green: 4 },
    },
  ],
  'commands, command': {
    before: [
      delegate('Create AGENTS.md with hello'),
      'mcp-a2a-bridge show session-',
      'mcp-a2a-bridge approve CODE',
      'mcp-a2a-bridge watch session-',
    ].join('\n'),
    replace: { CODE: /code ([0-9a-f]{8})/, 'c7dd206f.1': /\b([0-9a-f]{8}\.1)\b/ },
    exits: { 'checkpoint restore': 6 },
  },
  'cancel, abort': {
    before: [
      delegate('wait 1000 seconds'),
      'mcp-a2a-bridge watch SESSION --from 0 > watched &',
      'until grep "wait runs" watched; do :; done',
      HELLO,
    ].join('\n'),
    replace: { '6b73': SESSION, SESSION, 'wait-1795316604-4a5d8bcbe': /(wait-\d+-[0-9a-f]+)/ },
  },
  'server, logs': {},
};

function delegate(text: string): string {
  return `mcp-a2a-bridge run --detach '${text}'`;
}
