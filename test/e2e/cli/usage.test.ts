/** What is wrong with a command line, told to a script and to a person. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, type Outcome } from './support/cli.ts';

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
