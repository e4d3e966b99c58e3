/** Sandboxed shell commands, with the real bubblewrap if this machine allows it. Some tests need no bubblewrap. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../../shared/runtime/clock.ts';
import {
  createChildProcessRecords,
  NO_CHILD_RECORDS,
  type ChildProcessTracker,
} from '../../../../../a2a-server/processes/child-process-records.ts';
import {
  createShellCommandTool,
  type ShellOptions,
} from '../../../../../a2a-server/tools/builtin/run-shell-command.ts';
import {
  sandboxCommand,
  confinementText,
  chooseConfinement,
  UNCONFINED,
  type Confinement,
} from '../../../../../a2a-server/tools/shell/confinement.ts';
import { runShellCommand } from '../../../../../a2a-server/tools/shell/run-command.ts';
import { parseBoundPaths, findBoundSockets } from '../../../../../a2a-server/tools/shell/service-sockets.ts';
import { ToolStoppedError, type Tool } from '../../../../../a2a-server/tools/tool.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';
import { eventually, toolInWorkspace, type ToolInWorkspace } from '../tool-in-workspace.ts';

const BOX = { network: false, hidden: [] };
const linux = process.platform === 'linux' ? describe : describe.skip;

/** Returns whether this machine can create sandboxes. Asks bubblewrap itself, not the code under test. */
function canBox(): boolean {
  try {
    execFileSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', '--proc', '/proc', 'true'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
const whereBoxesAreMade = process.platform === 'linux' && canBox() ? describe : describe.skip;

linux('where no sandbox can be made', () => {
  const requires = { reason: 'CONFIGURATION', facts: { key: 'confineShell' } };

  it('X1 a server that requires a sandbox and has none does not start, and gives the reason', async () => {
    const nowhere = await temporaryDirectory();
    await expect(chooseConfinement({ ...BOX, confine: 'require' }, nowhere)).rejects.toMatchObject({
      ...requires,
      message: expect.stringContaining('bubblewrap (bwrap) is not installed'),
    });
  });

  it('X1 the server does not start either if bubblewrap is installed but not allowed to create a sandbox', async () => {
    const bin = await temporaryDirectory();
    const refuses = '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n';
    await writeFile(join(bin, 'bwrap'), refuses, { mode: 0o755 });
    await expect(chooseConfinement({ ...BOX, confine: 'require' }, bin)).rejects.toMatchObject({
      ...requires,
      message: expect.stringContaining('(bwrap: No permissions to create new namespace)'),
    });
  });

  it('with confine "auto" and without bubblewrap, commands run without a sandbox, and the server says so', async () => {
    const found = await chooseConfinement({ ...BOX, confine: 'auto' }, await temporaryDirectory());
    expect(found).toEqual({ type: 'open', why: 'bubblewrap (bwrap) is not installed' });
    expect(confinementText(found)).toBe('Commands are not confined: bubblewrap (bwrap) is not installed.');
    expect(await chooseConfinement({ ...BOX, confine: 'off' })).toBe(UNCONFINED);
  });
});

describe('the Unix sockets that a sandbox hides', () => {
  it('the hidden sockets are the paths in /proc/net/unix: paths with spaces are included, abstract names are not', () => {
    const table = [
      'Num       RefCount Protocol Flags    Type St Inode Path',
      '000000001a9717aa: 00000003 00000000 00000000 0001 03 1460228',
      '000000001a9717ab: 00000002 00000000 00010000 0001 01 22 /home/ada/.docker/a b.sock',
      '000000001a9717ac: 00000002 00000000 00010000 0001 01 23 @/tmp/.X11-unix/X0',
      '',
    ].join('\n');
    expect(parseBoundPaths(table)).toEqual(['/home/ada/.docker/a b.sock']);
  });

  it('X1 if the list of sockets cannot be read, the sandbox is not created, and the error gives the reason', async () => {
    const missing = join(await temporaryDirectory(), 'unix');
    await expect(findBoundSockets([], missing)).rejects.toMatchObject({
      reason: 'CONFIGURATION',
      message: expect.stringMatching(/because .*unix cannot be read \(.*ENOENT.*The command was not run\./),
    });
  });
});

describe('the arguments of bubblewrap for a sandbox', () => {
  it('the arguments separate the network unless it is allowed', () => {
    const at = { root: '/w', cwd: '/w' };
    expect(sandboxCommand(BOX, at, ['x'])).toContain('--unshare-net');
    expect(sandboxCommand({ ...BOX, network: true }, at, ['x'])).not.toContain('--unshare-net');
  });
});

/** Returns the machine's processes with this argument. */
const withArgument = (argument: string): string[] =>
  readdirSync('/proc').filter((id) => {
    try {
      return /^\d+$/.test(id) && readFileSync(`/proc/${id}/cmdline`, 'latin1').split('\0').includes(argument);
    } catch {
      return false;
    }
  });

const shell = (
  more: Partial<Extract<Confinement, { type: 'confined' }>> = {},
  options: Partial<ShellOptions> = {},
) =>
  createShellCommandTool({
    clock: systemClock,
    graceMs: 5000,
    environment: { ...process.env, API_KEY: 'hush', CARGO_HOME: '/c' },
    passEnvironment: ['CARGO_*'],
    children: NO_CHILD_RECORDS,
    confinement: { type: 'confined', network: false, hidden: [], ...more },
    ...options,
  });

/** Creates a directory with its own `bwrap`, which runs `line` and then the real bwrap. */
async function ownBwrap(line: string): Promise<string> {
  const real = execFileSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).trim();
  const bin = await temporaryDirectory();
  await writeFile(join(bin, 'bwrap'), `#!/bin/sh\n${line}\nexec ${real} "$@"\n`, { mode: 0o755 });
  return bin;
}

const withBwrap = (bin: string): Tool =>
  shell({}, { environment: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` } });

whereBoxesAreMade('a command in a sandbox', () => {
  let at: ToolInWorkspace;
  const run = async (command: string, more?: Parameters<typeof shell>[0]) =>
    (await at.run(shell(more), { command })).text;

  beforeEach(async () => {
    at = await toolInWorkspace();
  });

  it('a trial sandbox shows whether a sandbox can be created', async () => {
    const found = await chooseConfinement({ ...BOX, confine: 'require' });
    expect(found).toEqual({ type: 'confined', ...BOX });
    expect(confinementText(found)).toContain('there is no network');
  });

  it('X2 a sandboxed command can write only to the workspace', async () => {
    const elsewhere = await temporaryDirectory();
    await symlink(elsewhere, join(at.root, 'out'));
    await mkdir(join(at.root, 'sub'));
    expect(await run('echo a > in && cat in && cd sub && echo b > b')).toContain('exited with code 0');
    for (const target of [join(elsewhere, 'x'), 'out/x', '/etc/x', '/x', '/usr/x', '$HOME/x-of-a-box'])
      expect(await run(`echo x > ${target}`)).not.toContain('exited with code 0');
    expect(await readdir(elsewhere)).toEqual([]);
    expect((await readdir(at.root)).toSorted()).toEqual(['in', 'out', 'sub']);
    expect(existsSync('/etc/x')).toBe(false);
  });

  it('a sandboxed command has its own /tmp', async () => {
    const name = `box-${process.pid}`;
    expect(await run(`echo x > /tmp/${name} && cat /tmp/${name} && echo $TMPDIR`)).toMatch(/^x\n\/tmp\n/);
    expect(existsSync(`/tmp/${name}`)).toBe(false);
    expect(await run(`cat /tmp/${name}`)).toContain('exited with code 1');
  });

  it('X2 a sandboxed command cannot see the server’s state directory, other processes, or sockets of services', async () => {
    const state = join(at.root, 'state');
    await mkdir(state);
    await writeFile(join(state, 'token'), 'hush');
    const looks = `cat ${state}/token; ls -A ${state} | wc -l`;
    expect(await run(looks, { hidden: [state] })).toMatch(/No such file.*\n0\n/);
    expect(await run(`ls -d /proc/${process.pid}; kill -0 ${process.pid} && echo reached`)).not.toContain(
      'reached',
    );
    expect(await run('ls -A /run | grep -v systemd | wc -l')).toMatch(/^0\n/);
  });

  it('X2 a sandboxed command can connect to no Unix socket of a service, at any path', async () => {
    const home = await mkdtemp(join(homedir(), '.box-'));
    const path = join(home, 'a service.sock');
    const server = createServer((socket) => socket.end('hello'));
    try {
      await new Promise<void>((resolve) => server.listen(path, resolve));
      const connect = `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("${path}"); print(s.recv(9))'`;
      for (const network of [false, true])
        expect(await run(connect, { network })).toMatch(
          /(refused|not permitted|denied|no such file).*exited with code 1/is,
        );
    } finally {
      server.close();
      await rm(home, { recursive: true, force: true });
    }
  });

  it('a sandboxed command runs once, even if a service removes its socket while the sandbox is created', async () => {
    const home = await mkdtemp(join(homedir(), '.box-'));
    const path = join(home, 'service.sock');
    const server = createServer();
    try {
      await new Promise<void>((resolve) => server.listen(path, resolve));
      const bin = await ownBwrap(`rm -f '${path}'`);
      const said: string[] = [];
      const { text } = await at.run(
        withBwrap(bin),
        { command: 'echo ran >> runs; cat runs' },
        { output: (words) => said.push(words) },
      );
      expect(text).toBe('ran\n[exited with code 0]');
      expect(said.join('')).toBe('ran\n');
    } finally {
      server.close();
      await rm(home, { recursive: true, force: true });
    }
  });

  it('X1 a command does not run if no sandbox can be created, and the error contains bubblewrap’s message', async () => {
    const bin = await ownBwrap('echo x >> "$0.tries"; echo "bwrap: no more namespaces" >&2; exit 1');
    await expect(at.run(withBwrap(bin), { command: 'touch ran' })).rejects.toThrow(
      /^The command did not run: its sandbox could not start \(bwrap: no more namespaces\)\./,
    );
    expect(await readFile(join(bin, 'bwrap.tries'), 'utf8')).toBe('x\nx\nx\n');
    expect(await readdir(at.root)).toEqual([]);
  });

  it('D6 a sandboxed command leaves no process record if it is aborted between two attempts to create its sandbox', async () => {
    const directory = await temporaryDirectory();
    const bin = await ownBwrap(`until ls '${directory}' | grep -q json; do sleep 0.01; done; exit 1`);
    const records = createChildProcessRecords({
      directory,
      clock: systemClock,
      graceMs: 5000,
      onOrphan: () => undefined,
    });
    const entry = records.entry({ type: 'tool-execution', toolId: 't' });
    const stop = new AbortController();
    let attempts = 0;
    const child: ChildProcessTracker = {
      ...entry,
      get env() {
        attempts += 1;
        if (attempts === 2) stop.abort();
        return entry.env;
      },
    };
    const running = runShellCommand({
      command: 'touch ran',
      cwd: at.root,
      env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
      signal: stop.signal,
      output: () => undefined,
      clock: systemClock,
      graceMs: 5000,
      child,
      box: { box: BOX, root: at.root },
    });
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect(attempts).toBe(2);
    expect(await readdir(directory)).toEqual([]);
  });

  it('a sandboxed command has only the listed environment variables, and no secret', async () => {
    const text = await run('env');
    expect(text).toContain('CARGO_HOME=/c');
    expect(text).not.toContain('hush');
  });

  it('a sandboxed command can use no network unless it is allowed', async () => {
    const server = createServer((socket) => socket.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    // The test uses bash, because the sandbox may hide the directory of Node.
    const connect = `bash -c 'cat < /dev/tcp/127.0.0.1/${port}'`;
    try {
      expect(await run(connect)).toContain('Connection refused');
      expect(await run(connect, { network: true })).toMatch(/^hello/);
    } finally {
      server.close();
    }
  });

  it('a sandboxed command returns its exit code and its output in order, without messages about the sandbox’s end', async () => {
    for (let round = 0; round < 10; round += 1)
      expect(await run('echo out; echo err >&2; exit 7')).toBe('out\nerr\n[exited with code 7]');
  });

  let seconds = 50_000;
  const unlike = (): string => {
    seconds += 1;
    return `${seconds}.${process.pid}`;
  };

  async function abortOnce(command: string, graceMs = 5000) {
    const controller = new AbortController();
    const running = at
      .run(shell({}, { graceMs }), { command }, { signal: controller.signal })
      .catch((error: unknown) => error);
    const ready = eventually(async () => (await readdir(at.root)).find((name) => name === 'ready'));
    await Promise.race([ready, running]);
    controller.abort();
    return running;
  }

  it('R43 a sandboxed command ends with all its processes, also those outside its process group', async () => {
    const [one, two] = [unlike(), unlike()];
    const error = await abortOnce(`setsid sleep ${one} & sleep ${two} & touch ready; wait`, 500);
    expect(error).toBeInstanceOf(ToolStoppedError);
    expect(error).toMatchObject({ confirmed: true });
    expect([...withArgument(one), ...withArgument(two)]).toEqual([]);
  });

  it('A2 a sandboxed command has a grace period to end by itself', async () => {
    const error = await abortOnce(
      `trap 'sleep 0.1; echo clean > cleaned; exit' TERM; touch ready; while :; do sleep 0.05; done`,
    );
    expect(error).toMatchObject({ confirmed: true });
    expect(await readFile(join(at.root, 'cleaned'), 'utf8')).toBe('clean\n');
  });

  it('A2 a sandboxed command is killed after its grace period if it ignores the signal', async () => {
    const one = unlike();
    const error = await abortOnce(`trap '' TERM; touch ready; sleep ${one}; sleep ${one}`, 200);
    expect(error).toMatchObject({ confirmed: true });
    expect(withArgument(one)).toEqual([]);
  });

  it('a sandboxed command leaves no process in the background, and its result says so', async () => {
    const one = unlike();
    const text = await run(`sleep ${one} & echo done`);
    expect(text).toBe(
      'done\n[exited with code 0]\n[the server stopped the processes it left running in the background]',
    );
    expect(withArgument(one)).toEqual([]);
  });
});
