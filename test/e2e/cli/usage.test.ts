/** What is wrong with a command line, told to a script and to a person. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, cliAtTerminal, type Outcome } from './support/cli.ts';

describe('a command line that cannot be carried out', () => {
  let home: string;
  const run = (...args: string[]): Promise<Outcome> =>
    cli([...args, '--state-dir', join(home, 'state'), '--no-auto-start'], { home });

  beforeEach(async () => {
    home = await temporaryDirectory();
  });

  it.each<[string[], number, string]>([
    [['cancel', '--json'], 2, "missing required argument 'session'"],
    [['tasks', '--json', '--nope'], 2, "unknown option '--nope'"],
    [['tasks', '--json', '--state', 'asleep'], 2, 'There is no state "asleep"'],
    [['install', 'nobody', '--json'], 2, 'There is no client "nobody"'],
    [['watch', 'nowhere', '--json'], 69, 'The bridge cannot look for session "nowhere"'],
  ])('%j is one JSON object on stdout, nothing on stderr, and an exit code', async (args, code, says) => {
    const { stdout, stderr, ...end } = await run(...args);
    expect(end.code).toBe(code);
    expect(JSON.parse(stdout)).toMatchObject({ error: { message: expect.stringContaining(says) } });
    expect(stderr).toBe('');
  });

  it.each([
    [['aprove'], "unknown command 'aprove'", 'approve'],
    [['server', 'stat'], "unknown command 'stat'", 'start'],
    [['tasks', '--limt', '3'], "unknown option '--limt'", '--limit'],
  ])('%j is an error with a suggestion', async (args, says, suggestion) => {
    const { code, stderr } = await cli(args, { home });
    expect(code).toBe(2);
    expect(stderr).toContain(says);
    expect(stderr).toContain(`(Did you mean ${suggestion}?)`);
  });

  it.each([[['help']], [['help', 'run']], [['server', 'help']]])('%j prints help', async (args) => {
    const { code, stdout, stderr } = await cli(args, { home });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: mcp-a2a-bridge /);
  });

  it('at a terminal of 60 columns no word of the help or of an error is cut', async () => {
    const at = { home, keys: '', columns: 60 };
    for (const args of [['--help'], ['run', '--help'], ['tasks', '--state', 'asleep'], ['show', 'nothing']]) {
      const { stdout } = await cliAtTerminal([...args, '--no-auto-start'], at);
      const wide = stdout.split(/\r?\n/).filter((line) => line.length > 60 && / /.test(line.trim()));
      expect(wide).toEqual([]);
    }
  });

  it('is told to a person on stderr, without colours where that is no terminal', async () => {
    const { code, stdout, stderr } = await run('cancel');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: missing required argument 'session'\n\(mcp-a2a-bridge --help/);
    const aborted = await run('abort', '../x');
    expect(aborted).toMatchObject({ code: 4, stdout: '' });
    expect(aborted.stderr).toMatch(
      /is not the id of a tool execution\. "mcp-a2a-bridge watch" names those that run/,
    );
    expect(`${stderr}${aborted.stderr}`).not.toContain('\u001b');
  });
});
