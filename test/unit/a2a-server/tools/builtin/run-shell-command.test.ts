/** Tests run-shell-command on real processes. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../../../../shared/runtime/clock.ts';
import {
  createChildProcessRecords,
  type ChildProcessRecords,
  NO_CHILD_RECORDS,
} from '../../../../../a2a-server/processes/child-process-records.ts';
import { untilFileContains } from '../../../../support/file-watch.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';
import {
  createShellCommandTool,
  type ShellOptions,
} from '../../../../../a2a-server/tools/builtin/run-shell-command.ts';
import { UNCONFINED } from '../../../../../a2a-server/tools/shell/confinement.ts';
import { ToolStoppedError, type Tool } from '../../../../../a2a-server/tools/tool.ts';
import { eventually, toolInWorkspace, type ToolInWorkspace } from '../tool-in-workspace.ts';

/**
 * Records the children as the server does. So the tool also finds processes that have left the command's process
 * group.
 */
async function recorded(): Promise<ChildProcessRecords> {
  return createChildProcessRecords({
    directory: await temporaryDirectory(),
    clock: systemClock,
    graceMs: 5000,
    onOrphan: () => undefined,
  });
}

const linux = process.platform === 'linux' ? it : it.skip;
const posix = process.platform === 'win32' ? describe.skip : describe;

/** Waits until a daemon has left the process group and has written its process id. */
const UNTIL_IT_RUNS = 'until [ -s pids ]; do sleep 0.02; done';

let at: ToolInWorkspace;

beforeEach(async () => {
  at = await toolInWorkspace();
});

const shell = (options: Partial<ShellOptions> = {}): Tool =>
  createShellCommandTool({
    clock: systemClock,
    graceMs: 5000,
    environment: process.env,
    passEnvironment: [],
    children: NO_CHILD_RECORDS,
    confinement: UNCONFINED,
    ...options,
  });
const run = (command: string, options?: Partial<ShellOptions>) => at.run(shell(options), { command });

/** Returns true if the process runs. A zombie process does not count. */
async function runs(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return stat !== '' && !/\) [ZX]/u.test(stat);
}

/** Waits until a command has written `n` process ids, one per line. Returns the ids. */
const pidsIn = (name: string, n: number): Promise<number[]> =>
  eventually(async () => {
    const text = await readFile(join(at.root, name), 'utf8').catch(() => '');
    const pids = text.split('\n').slice(0, -1).map(Number);
    return pids.length === n ? pids : undefined;
  });

/** Starts a command and aborts it once it has written `n` process ids to `pids`. */
async function abortOnce(command: string, n: number, options?: Partial<ShellOptions>) {
  const controller = new AbortController();
  const running = at.run(shell(options), { command }, { signal: controller.signal });
  const stopped = running.then(
    () => undefined,
    (error: unknown) => error,
  );
  const pids = await pidsIn('pids', n);
  controller.abort();
  return { pids, error: await stopped };
}

posix('run-shell-command', () => {
  it('the preview of a shell command shows the command and its directory', async () => {
    await mkdir(join(at.root, 'sub'));
    const input = { command: 'npm test\n# more', cwd: 'sub' };
    expect(shell().title(input)).toBe('Run `npm test↵# more`');
    expect(await at.show(shell(), input)).toEqual({
      preview: { type: 'command', command: input.command, cwd: join(at.root, 'sub') },
      basis: null,
    });
    expect(shell().timeoutMs(input)).toBe(120_000);
    expect(shell().timeoutMs({ ...input, timeoutSeconds: 7 })).toBe(7000);
  });

  it('the result of a shell command has its output and exit code, also after a failure', async () => {
    expect(await run('echo hello')).toEqual({
      text: 'hello\n[exited with code 0]',
      summary: '`echo hello` exited with code 0',
    });
    expect((await run('echo "$PWD"; exit 3')).text).toBe(`${at.root}\n[exited with code 3]`);
    expect((await run('true')).text).toBe('[no output]\n[exited with code 0]');
    expect((await run('kill -SEGV $$')).text).toBe('[no output]\n[was ended by SIGSEGV]');
    expect((await run('no-such-command')).text).toMatch(/not found\n\[exited with code 127\]$/);
  });

  it('the output of a shell command keeps stdout and stderr in the order of the writes', async () => {
    const command = 'for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done';
    const expected = Array.from({ length: 9 }, (_, n) => `out ${n + 1}\nerr ${n + 1}\n`).join('');
    expect((await run(command)).text).toBe(`${expected}[exited with code 0]`);
  });

  it('the shell runs a command unchanged: quotes, dollars, line breaks, several statements', async () => {
    expect((await run(`x='a  b'; printf '%s|' "$x" '$x' "it's"; echo; cat <<'E'\nhere $x\nE`)).text).toBe(
      "a  b|$x|it's|\nhere $x\n[exited with code 0]",
    );
  });

  it('a shell command gets no standard input', async () => {
    expect((await run('cat; read x; echo "read: $?"')).text).toBe('read: 1\n[exited with code 0]');
  });

  it('the live output of a shell command has whole characters and no terminal codes', async () => {
    const seen: string[] = [];
    const controller = new AbortController();
    const running = at.run(
      shell(),
      {
        command: `printf '\\033[31mred\\033[0m '; printf '\\360\\237'; sleep 0.1; printf '\\216\\211'; cat go 2>/dev/null; while [ ! -f go ]; do sleep 0.02; done; echo end`,
      },
      { signal: controller.signal, output: (text) => void seen.push(text) },
    );
    await eventually(async () => (seen.join('') === 'red 🎉' ? true : undefined));
    await writeFile(join(at.root, 'go'), '');
    expect((await running).text).toBe('red 🎉end\n[exited with code 0]');
    expect(seen.join('')).toBe('red 🎉end\n');
  });

  it('X2 a shell command in a directory outside the workspace is refused', async () => {
    const outside = { command: 'pwd', cwd: '..' };
    await expect(at.show(shell(), outside)).rejects.toMatchObject({ reason: 'OUTSIDE_WORKSPACE' });
    await expect(at.run(shell(), outside)).rejects.toMatchObject({ reason: 'OUTSIDE_WORKSPACE' });
    await expect(at.show(shell(), { command: 'pwd', cwd: 'missing' })).rejects.toThrow(/not a directory/);
  });

  it('a shell command gets no secret of the server, but the variables that the operator allows', async () => {
    const environment = {
      PATH: process.env['PATH'],
      HOME: '/home/x',
      LC_ALL: 'C',
      ANTHROPIC_API_KEY: 'secret-1',
      MCP_A2A_BRIDGE_TOKEN: 'secret-2',
      AWS_SECRET_ACCESS_KEY: 'secret-3',
      SSH_AUTH_SOCK: '/tmp/agent',
      CARGO_HOME: '/cargo',
    };
    const { text } = await run('env', { environment, passEnvironment: ['CARGO_*'] });
    expect(text).not.toMatch(/secret|SSH_AUTH_SOCK/);
    expect(text).toContain('HOME=/home/x');
    expect(text).toContain('LC_ALL=C');
    expect(text).toContain('CARGO_HOME=/cargo');
    const whole = (await run('env', { environment: { ...process.env, API_TOKEN: 'secret-4' } })).text;
    expect(whole).not.toContain('secret-4');
  });

  it('X3 from 100 MB of output, a shell command’s result keeps both ends in limited memory, and shows a part live', async () => {
    let live = 0;
    const before = process.memoryUsage().rss;
    let highest = 0;
    const watching = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss);
    }, 20);
    const { text } = await at.run(
      shell(),
      { command: `echo first; yes 0123456789abcdef | head -c 100000000; echo; echo last; exit 4` },
      { output: (piece) => void (live += piece.length) },
    );
    clearInterval(watching);
    expect(text.length).toBeLessThan(31_000);
    expect(text).toMatch(/^first\n0123456789abcdef\n/);
    expect(text).toMatch(/\[… \d+ characters left out …\]/);
    expect(text).toMatch(/last\n\[read-output with toolId .*\]\n\[exited with code 4\]$/);
    expect(live).toBeLessThan(1_001_000);
    expect(highest - before).toBeLessThan(60 * 1024 * 1024);
  }, 60_000);

  it('A2 an abort ends a shell command and all its processes, also its grandchildren', async () => {
    const command = `echo so far; echo $$ >> pids; (sh -c 'echo $$ >> pids; sleep 1000' & echo started; sleep 1000) & sleep 1000 & echo $! >> pids; wait`;
    const { pids, error } = await abortOnce(command, 3);
    expect(error).toBeInstanceOf(ToolStoppedError);
    expect(error).toMatchObject({ confirmed: true, text: expect.stringContaining('so far\n') });
    expect(await Promise.all(pids.map(runs))).toEqual([false, false, false]);
  });

  linux(
    'A2 an abort ends programs that have left the group of their command, as setsid and timeout make them',
    async () => {
      const program = `sh -c 'echo $$ >> pids; exec sleep 1000'`;
      const command = `setsid ${program} & timeout 1000 ${program} & (setsid setsid ${program} &) ; wait`;
      const { pids, error } = await abortOnce(command, 3, { children: await recorded() });
      expect(error).toBeInstanceOf(ToolStoppedError);
      expect(error).toMatchObject({ confirmed: true });
      expect(await Promise.all(pids.map(runs))).toEqual([false, false, false]);
    },
  );

  linux('A2 an abort ends a program that leaves the group while its command is being ended', async () => {
    // The shell writes the process id, because the server may end the program before it runs.
    const command = `trap 'setsid sleep 1000 & echo $! >> late; exit' TERM; echo $$ >> pids; while :; do sleep 0.02; done`;
    const { error } = await abortOnce(command, 1, { children: await recorded() });
    expect(error).toMatchObject({ name: 'ToolStoppedError', confirmed: true });
    const [pid = 0] = await pidsIn('late', 1);
    expect(await runs(pid)).toBe(false);
  });

  linux('A2 an abort kills a program outside of the group that ignores SIGTERM', async () => {
    const command = `setsid sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 0.02; done' & wait`;
    const { pids, error } = await abortOnce(command, 1, { graceMs: 200, children: await recorded() });
    expect(error).toMatchObject({ confirmed: true });
    expect(await Promise.all(pids.map(runs))).toEqual([false]);
  });

  it('A2 the server kills a shell command that ignores SIGTERM after the grace period', async () => {
    const command = `trap 'echo heard >> heard' TERM; (trap '' TERM; sh -c 'echo $$ >> pids; while :; do sleep 1; done') & echo $$ >> pids; while :; do sleep 0.02; done`;
    const graceMs = 300;
    let periods = 0;
    // The grace period ends after the command has handled SIGTERM, however long that takes on a busy machine.
    const clock: Clock = {
      ...systemClock,
      after(ms, act) {
        if (ms !== graceMs) return systemClock.after(ms, act);
        periods += 1;
        void untilFileContains(join(at.root, 'heard'), 'heard\n').then(act);
        return () => undefined;
      },
    };
    const { pids, error } = await abortOnce(command, 2, { graceMs, clock });
    expect(error).toMatchObject({ name: 'ToolStoppedError', confirmed: true });
    expect(await Promise.all(pids.map(runs))).toEqual([false, false]);
    expect(periods).toBe(1);
  });

  it('an aborted shell command can handle SIGTERM within the grace period', async () => {
    const command = `trap 'sleep 0.1; echo saved > saved; exit 0' TERM; echo $$ >> pids; while :; do sleep 0.02; done`;
    const { error } = await abortOnce(command, 1);
    expect(error).toMatchObject({ name: 'ToolStoppedError', confirmed: true });
    expect(await readFile(join(at.root, 'saved'), 'utf8')).toBe('saved\n');
  });

  it('a shell command does not start after an abort', async () => {
    const controller = new AbortController();
    controller.abort();
    await expect(
      at.run(shell(), { command: 'touch made' }, { signal: controller.signal }),
    ).rejects.toMatchObject({
      name: 'AbortError',
    });
    await expect(readFile(join(at.root, 'made'))).rejects.toThrow(/ENOENT/);
  });

  it('a shell command ends with its shell, and the server stops the processes in the background', async () => {
    const { text } = await run('sleep 1000 & echo $! > pids; echo done');
    expect(text).toBe(
      'done\n[exited with code 0]\n[the server stopped the processes it left running in the background]',
    );
    const [pid] = await pidsIn('pids', 1);
    expect(await runs(pid ?? 0)).toBe(false);
  });

  it('A3 an abort after the shell has exited does not change the command’s result', async () => {
    const controller = new AbortController();
    const command = `(trap '' TERM; while :; do sleep 0.02; done) & echo $$ > pids; echo done; exit 5`;
    const running = at.run(shell({ graceMs: 300 }), { command }, { signal: controller.signal });
    const [pid] = await pidsIn('pids', 1);
    await eventually(async () => ((await runs(pid ?? 0)) ? undefined : true));
    controller.abort();
    expect((await running).text).toMatch(
      /^done\n\[exited with code 5\]\n\[the server stopped the processes it left running/,
    );
  });

  (process.platform === 'linux' ? it : it.skip)(
    'A3 an exit before the abort counts, even if its event comes after the abort',
    async () => {
      const controller = new AbortController();
      const running = at.run(
        shell(),
        { command: 'echo $$ > pids; until [ -e go ]; do sleep 0.02; done; exit 5' },
        { signal: controller.signal },
      );
      const [pid] = await pidsIn('pids', 1);
      writeFileSync(join(at.root, 'go'), '');
      // This loop blocks the event loop, so that Node does not see the exit.
      while (!/\) Z/u.test(readFileSync(`/proc/${pid}/stat`, 'latin1')));
      controller.abort();
      expect((await running).text).toMatch(/exited with code 5/);
    },
  );

  it('the server stops reading from a daemon that has left the process group and still writes', async () => {
    const { text } = await run(
      `setsid sh -c 'echo $$ > pids; while :; do echo x; sleep 0.02; done' & ${UNTIL_IT_RUNS}; echo done`,
    );
    expect(text).toContain('done');
    const [daemon = 0] = await pidsIn('pids', 1);
    process.kill(-daemon, 'SIGKILL');
  });

  it('a shell command does not wait for a daemon that has left the process group and keeps the output open', async () => {
    const { text } = await run(
      `setsid sh -c 'echo $$ > pids; exec sleep 1000' & ${UNTIL_IT_RUNS}; echo done`,
    );
    expect(text).toMatch(/^done\n\[exited with code 0\]/);
    const [pid] = await pidsIn('pids', 1);
    // The process has left the process group. So the test ends the process.
    process.kill(pid ?? 0, 'SIGKILL');
  });

  it('an empty shell command is refused', async () => {
    for (const command of ['', '  \n', 'a\0b', 'x'.repeat(100_001)]) {
      expect(shell().schema.safeParse({ command }).success).toBe(false);
    }
    expect((await run(`: ${'x'.repeat(99_000)}`)).text).toMatch(/code 0/);
  });
});
