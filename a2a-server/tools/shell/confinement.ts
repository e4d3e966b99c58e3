/**
 * Confines shell commands with bubblewrap (Linux). A command may read the system. A command may write only to its
 * workspace and to its own /tmp. A command cannot see other processes, hidden directories, or Unix sockets that exist
 * at its start. A command has a network only if the settings allow it.
 *
 * A command can still open three kinds of sockets:
 * - sockets in the workspace,
 * - sockets that a service creates later outside of /run and /tmp,
 * - mounted sockets of other network namespaces.
 *
 * Consequences for ending a command (A2: SIGTERM, a grace period, SIGKILL):
 * - bubblewrap stays in the shell's process group, because the code does not pass `--new-session`. The group has no
 *   terminal, so the option is not needed.
 * - SIGTERM to the group ends bubblewrap's outer process at once. The command also gets SIGTERM, and has its grace
 *   period.
 * - The first process inside the sandbox ignores SIGTERM. It runs as long as another process runs in the sandbox, so
 *   the group exists until then.
 * - The code does not pass `--die-with-parent`, which would kill the command without a grace period.
 * - SIGKILL ends the first process inside. The kernel then ends every process in the sandbox, even processes that left
 *   the group.
 */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { errorMessageOf, ProductError, errorCode } from '../../../shared/runtime/errors.ts';
import { findBoundSockets } from './service-sockets.ts';

export const CONFINE_SHELL_VALUES = ['auto', 'off', 'require'] as const;
/**
 * `auto` confines commands if possible, `off` never confines, `require` always confines. With `require`, the server
 * does not start if confinement is impossible.
 */
type ConfineShell = (typeof CONFINE_SHELL_VALUES)[number];

export interface SandboxOptions {
  network: boolean;
  /** The server's own directories. X2: they are empty in the sandbox. */
  hidden: readonly string[];
}

export type Confinement = ({ type: 'confined' } & SandboxOptions) | { type: 'open'; why: string };

export const UNCONFINED: Confinement = { type: 'open', why: 'it is switched off' };

const TEST_SANDBOX_LIMIT_MS = 10_000;

const BWRAP = 'bwrap';

/**
 * The sandbox has its own, empty copies of these directories. In /run, services such as Docker have sockets, which
 * would give a command access outside of the sandbox.
 */
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
 * Returns how the server confines shell commands. Unless the setting is `off`, starts a test sandbox to find out
 * whether it works.
 * @param path the value of PATH, to find bubblewrap
 * @throws ProductError CONFIGURATION if the setting requires confinement and the sandbox fails
 */
export async function chooseConfinement(
  { confine, network, hidden }: SandboxOptions & { confine: ConfineShell },
  path = process.env['PATH'],
): Promise<Confinement> {
  if (confine === 'off') return UNCONFINED;
  const why = await findConfinementProblem({ network, hidden }, path);
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
 * @param at `root` is the workspace, which the command may write. `cwd` is the working directory. The command cannot
 *   use the `sockets`.
 */
export function sandboxCommand(
  { network, hidden }: SandboxOptions,
  at: { root: string; cwd: string; sockets?: readonly string[] },
  command: readonly string[],
): [string, ...string[]] {
  // A command with a network can read this directory, because it needs /etc/resolv.conf. On many systems that file is
  // a link into this directory.
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

/**
 * Finds the sockets that a command could open by their path. The sandbox replaces some directories, so their sockets
 * are left out.
 */
export function findSocketsToHide({ box, root }: { box: SandboxOptions; root: string }): Promise<string[]> {
  return findBoundSockets([...PRIVATE_DIRECTORIES, '/dev', '/proc', ...box.hidden, root]);
}

export function confinementText(confinement: Confinement): string {
  if (confinement.type === 'open') return `Commands are not confined: ${confinement.why}.`;
  const network = confinement.network ? 'the network is open to them' : 'there is no network';
  return `Commands are confined: they may write only to the workspace and to a /tmp of their own, and ${network}.`;
}

async function findConfinementProblem(
  box: SandboxOptions,
  path: string | undefined,
): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'bubblewrap runs on Linux only';
  const directory = tmpdir();
  const [program, ...args] = sandboxCommand(box, { root: directory, cwd: directory }, [
    '/bin/sh',
    '-c',
    'exit 0',
  ]);
  const env = { PATH: path };
  const unreadable = await findSocketsToHide({ box, root: directory }).then(() => undefined, errorMessageOf);
  if (unreadable !== undefined) return unreadable;
  return new Promise((resolve) => {
    execFile(program, args, { timeout: TEST_SANDBOX_LIMIT_MS, env }, (error, _stdout, stderr) => {
      if (error === null) return resolve(undefined);
      if (errorCode(error) === 'ENOENT') return resolve('bubblewrap (bwrap) is not installed');
      const said = stderr.trim().split('\n', 1)[0]?.slice(0, 200) ?? '';
      return resolve(
        `bubblewrap cannot create a sandbox here (${said === '' ? error.message.slice(0, 200) : said})`,
      );
    });
  });
}
