/**
 * Confines shell commands with bubblewrap (Linux). A command may read the system. It may write only to its workspace
 * and its own /tmp. It sees only its own processes. It sees no hidden directories, no Unix sockets that exist at its
 * start, and no network unless allowed. (The command can still open three kinds of sockets: sockets that a service
 * creates later outside of /run and /tmp, sockets of other network namespaces that are mounted elsewhere, and sockets
 * in the workspace.)
 *
 * Consequences for ending a command (A2, R43)
 * - bubblewrap stays in the shell's process group. `--new-session` would move it out of the group. The option is not
 *   needed, because the group has no terminal.
 * - SIGTERM to the group ends bubblewrap's outer process at once and also reaches the command, which gets its grace
 *   period. The first process inside ignores SIGTERM and stays while anything runs in the sandbox. So the group stays
 *   alive.
 * - `--die-with-parent` is not used: it would kill the command with the outer process, without a grace period.
 * - SIGKILL ends the first process inside. The kernel then ends everything in the sandbox, even processes that left the
 *   group.
 */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { serviceSockets } from './service-sockets.ts';
import { errorCodeOf } from '../workspace/file-failure.ts';

export const CONFINE_SHELL = ['auto', 'off', 'require'] as const;
/**
 * `auto` confines commands if possible, `off` never, `require` always. With `require`, the server does not start if
 * confinement is impossible.
 */
type ConfineShell = (typeof CONFINE_SHELL)[number];

export interface SandboxOptions {
  network: boolean;
  /** The server's own directories, which are empty in the sandbox (X2). */
  hidden: readonly string[];
}

export type Confinement = ({ type: 'confined' } & SandboxOptions) | { type: 'open'; why: string };

export const UNCONFINED: Confinement = { type: 'open', why: 'it is switched off' };

/** Time limit for the test sandbox, in milliseconds. */
const PATIENCE_MS = 10_000;

const BWRAP = 'bwrap';

/** Private directories in the sandbox. Services such as Docker have sockets in /run that would bypass the sandbox. */
const PRIVATE_DIRECTORIES = ['/tmp', '/var/tmp', '/run'];
const READ_ONLY_SYSTEM = [
  ...'--ro-bind / / --dev /dev --proc /proc'.split(' '),
  ...PRIVATE_DIRECTORIES.flatMap((directory) => ['--tmpfs', directory]),
  ...'--setenv TMPDIR /tmp'.split(' '),
];
const OWN_NAMESPACES = [
  ...'--unshare-pid --unshare-ipc --unshare-uts --unshare-user-try --unshare-cgroup-try'.split(' '),
  ...'--cap-drop ALL'.split(' '),
];

/**
 * Creates a test sandbox to find out whether confinement works.
 * @param path the value of PATH to search for bubblewrap
 * @throws ProductError CONFIGURATION if confinement is required and does not work
 */
export async function findConfinement(
  { confine, network, hidden }: SandboxOptions & { confine: ConfineShell },
  path = process.env['PATH'],
): Promise<Confinement> {
  if (confine === 'off') return UNCONFINED;
  const why = await obstacle({ network, hidden }, path);
  if (why === undefined) return { type: 'confined', network, hidden };
  if (confine === 'auto') return { type: 'open', why };
  throw new ProductError(
    'CONFIGURATION',
    `Shell commands must be confined (setting "confineShell" is "require"), but no sandbox works: ${why}. Correct that, or set it to "auto" or "off".`,
    { facts: { key: 'confineShell' } },
  );
}

/**
 * Returns the command line that runs `command` in a sandbox.
 * @param at the only writable directory, the working directory, and the sockets to hide
 */
export function sandboxCommand(
  { network, hidden }: SandboxOptions,
  at: { root: string; cwd: string; sockets?: readonly string[] },
  command: readonly string[],
): [string, ...string[]] {
  // On many systems /etc/resolv.conf is a link into this directory. So a command with network needs it.
  const resolver = '/run/systemd/resolve';
  return [
    BWRAP,
    ...READ_ONLY_SYSTEM,
    ...(at.sockets ?? []).flatMap((socket) => ['--ro-bind', '/dev/null', socket]),
    ...(network ? ['--ro-bind-try', resolver, resolver] : ['--unshare-net']),
    '--bind',
    at.root,
    at.root,
    ...hidden.flatMap((directory) => ['--tmpfs', directory]),
    ...OWN_NAMESPACES,
    '--chdir',
    at.cwd,
    '--',
    ...command,
  ];
}

/** Finds sockets outside of the directories that the sandbox replaces. A command could open them by their path. */
export function socketsToHide({ box, root }: { box: SandboxOptions; root: string }): Promise<string[]> {
  return serviceSockets([...PRIVATE_DIRECTORIES, '/dev', '/proc', ...box.hidden, root]);
}

/** Describes the confinement for people and models. */
export function confinementText(confinement: Confinement): string {
  if (confinement.type === 'open') return `Commands are not confined: ${confinement.why}.`;
  const network = confinement.network ? 'the network is open to them' : 'there is no network';
  return `Commands are confined: they may write only to the workspace and to a /tmp of their own, and ${network}.`;
}

async function obstacle(box: SandboxOptions, path: string | undefined): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'bubblewrap runs on Linux only';
  const directory = tmpdir();
  const [program, ...args] = sandboxCommand(box, { root: directory, cwd: directory }, [
    '/bin/sh',
    '-c',
    'exit 0',
  ]);
  const env = { PATH: path };
  const unreadable = await socketsToHide({ box, root: directory }).then(() => undefined, messageOf);
  if (unreadable !== undefined) return unreadable;
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PATIENCE_MS, env }, (error, _stdout, stderr) => {
      if (error === null) return resolve(undefined);
      if (errorCodeOf(error) === 'ENOENT') return resolve('bubblewrap (bwrap) is not installed');
      const said = stderr.trim().split('\n', 1)[0]?.slice(0, 200) ?? '';
      return resolve(
        `bubblewrap cannot create a sandbox here (${said === '' ? error.message.slice(0, 200) : said})`,
      );
    });
  });
}
