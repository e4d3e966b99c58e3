/** Tests that the steps of `npm run demo` succeed, and that its last lines name the next commands. */
import { expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { cli } from './cli/support/cli.ts';

it('the demo ends with the three next steps, and each named command exists', async () => {
  const demo = spawn(process.execPath, ['scripts/run.mjs', 'scripts/demo.ts'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, problems] = await Promise.all([text(demo.stdout), text(demo.stderr), once(demo, 'exit')]);
  expect({ code: demo.exitCode, problems }).toEqual({ code: 0, problems: '' });
  expect(out).not.toContain('✗');
  const last = out.trimEnd().split('\n').slice(-4);
  expect(last).toEqual([
    'Every step held. Next:',
    '  node dist/bridge/main.js model set anthropic:claude-sonnet-4-5   # or openai:…, google:…, ollama:…',
    '  node dist/bridge/main.js install claude                          # or gemini, codex, cursor, vscode',
    '  Then restart the client, and ask it: Delegate "Explain this project" to the assistant.',
  ]);
  const home = await temporaryDirectory();
  const { code, stdout } = await cli(['model', 'list', 'claude-sonnet-4-5'], { home });
  expect([code, stdout]).toEqual([0, expect.stringContaining('anthropic:claude-sonnet-4-5')]);
  for (const client of ['claude', 'gemini', 'codex', 'cursor', 'vscode'])
    expect(await cli(['install', client, '--dry-run'], { home, cwd: home })).toMatchObject({ code: 0 });
});
