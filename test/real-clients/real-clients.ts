/**
 * Installs the packages for MCP clients into the real clients, in a home directory of its own, and sees each client start
 * the bridge. No model is needed. `npm run test:real-clients` runs it, with the clients on the path.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const PACKAGES = resolve('dist/client-packages');
const TWO_MINUTES_MS = 120_000;
const home = await mkdtemp(join(tmpdir(), 'real-clients-'));

/** Runs a client. @returns what it prints, on both streams */
async function run(program: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, args, {
    cwd: home,
    timeout: TWO_MINUTES_MS,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      TERM: 'xterm',
      // The clients refuse to start without a key. Nothing here sends it.
      ANTHROPIC_API_KEY: 'none',
      GEMINI_API_KEY: 'none',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      MCP_A2A_BRIDGE_AUTO_START: 'no',
    },
  });
  return stdout + stderr;
}

/** @throws Error that ends the program with exit code 1 */
function check(what: string, printed: string, expected: RegExp): void {
  const holds = expected.test(printed);
  process.stdout.write(`${holds ? '✓' : '✗'} ${what}\n`);
  if (!holds) throw new Error(`Expected ${String(expected)}:\n${printed}`);
}

try {
  check(
    'Claude Code accepts the marketplace',
    await run('claude', 'plugin', 'validate', PACKAGES),
    /Validation passed/,
  );
  check(
    'Claude Code accepts the plugin',
    await run('claude', 'plugin', 'validate', join(PACKAGES, 'claude-code')),
    /Validation passed/,
  );
  await run('claude', 'plugin', 'marketplace', 'add', PACKAGES);
  await run('claude', 'plugin', 'install', 'a2a-bridge@mcp-a2a-bridge');
  check(
    'Claude Code has the skill and the commands',
    await run('claude', 'plugin', 'details', 'a2a-bridge'),
    /delegating-work, inbox, review, status-line[^]*Hooks \(2\)/,
  );
  check('Claude Code connects to the bridge', await run('claude', 'mcp', 'list'), /a2a-bridge: .*Connected/);

  await run('codex', 'plugin', 'marketplace', 'add', PACKAGES);
  await run('codex', 'plugin', 'add', 'a2a-bridge@mcp-a2a-bridge');
  check(
    'Codex installs the plugin',
    await run('codex', 'plugin', 'list'),
    /a2a-bridge@mcp-a2a-bridge\s+installed/,
  );

  const settings = { security: { auth: { selectedType: 'gemini-api-key' } } };
  await mkdir(join(home, '.gemini'), { recursive: true });
  await writeFile(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
  const extension = join(PACKAGES, 'gemini-cli');
  check(
    'Gemini CLI accepts the extension',
    await run('gemini', 'extensions', 'validate', extension),
    /successfully validated/,
  );
  await run('gemini', 'extensions', 'install', extension, '--consent');
  check(
    'Gemini CLI has the skill',
    await run('gemini', 'extensions', 'list'),
    /Agent skills:\s+delegating-work/,
  );
  check('Gemini CLI connects to the bridge', await run('gemini', 'mcp', 'list'), /a2a-bridge .*Connected/);

  const manifest = join(PACKAGES, 'desktop-bundle', 'manifest.json');
  check('mcpb accepts the desktop bundle', await run('mcpb', 'validate', manifest), /validation passes/);
} finally {
  await rm(home, { recursive: true, force: true });
}
