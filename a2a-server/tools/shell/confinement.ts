/**
 * Shell commands in a box, made by bubblewrap (Linux): the system is there to be read, the workspace to be written, /tmp is
 * the command's own, nothing else can be written. It sees no process but its own, no sockets of the machine's services, no
 * network unless told so, and not the directories that are named as hidden.
 *
 * What it means for the end of a command (A2, R43)
 * - The box stays in the process group of the shell that was spawned: `--new-session` would take it out, and is not needed,
 *   since the group has no terminal to write to.
 * - SIGTERM to the group ends bubblewrap's outer process at once and reaches the command too, which has its grace period.
 *   The first process inside ignores it, stays as long as anything runs in the box, and so keeps the group alive. For the
 *   same reason there is no `--die-with-parent`: it would kill the command with the outer process, without any grace.
 * - SIGKILL ends the first process inside, and with it the kernel ends all that is in the box: also what has left the group.
 */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { codeOf } from '../workspace/file-failure.ts';

export const CONFINE_SHELL = ['auto', 'off', 'require'] as const;
/** Whether commands are confined: where it can be done, never, or always, so that there is no server where it cannot. */
export type ConfineShell = (typeof CONFINE_SHELL)[number];

export interface Box {
  network: boolean;
  /** Directories that are empty in the box, wherever they lie: the server's own (X2). */
  hidden: readonly string[];
}

export type Confinement = ({ type: 'confined' } & Box) | { type: 'open'; why: string };

export const UNCONFINED: Confinement = { type: 'open', why: 'it is switched off' };

/** How long an empty box may take to be made, in milliseconds. */
const PATIENCE_MS = 10_000;

const BWRAP = 'bwrap';

/** Below /run are the sockets of services, Docker's among them: who can open one is not confined. */
const READ_ONLY_SYSTEM = [
  ...'--ro-bind / / --dev /dev --proc /proc'.split(' '),
  ...'--tmpfs /tmp --tmpfs /var/tmp --tmpfs /run --setenv TMPDIR /tmp'.split(' '),
];
const OWN_NAMESPACES = [
  ...'--unshare-pid --unshare-ipc --unshare-uts --unshare-user-try --unshare-cgroup-try'.split(' '),
  ...'--cap-drop ALL'.split(' '),
];

/**
 * What can be had, found out by making a box. @throws ProductError CONFIGURATION where a box is required and cannot be made.
 * @param path where bubblewrap is looked for, as PATH is.
 */
export async function findConfinement(
  { confine, network, hidden }: Box & { confine: ConfineShell },
  path = process.env['PATH'],
): Promise<Confinement> {
  if (confine === 'off') return UNCONFINED;
  const why = await obstacle({ network, hidden }, path);
  if (why === undefined) return { type: 'confined', network, hidden };
  if (confine === 'auto') return { type: 'open', why };
  throw new ProductError(
    'CONFIGURATION',
    `Shell commands must be confined (setting "confineShell" is "require"), and cannot be: ${why}. Mend that, or set it to "auto" or "off".`,
    { facts: { key: 'confineShell' } },
  );
}

/** The program that runs `command` in a box, with its arguments. @param at the only directory it may write to, and where it starts. */
export function boxed(
  { network, hidden }: Box,
  at: { root: string; cwd: string },
  command: readonly string[],
): [string, ...string[]] {
  // Where /etc/resolv.conf leads on many systems.
  const resolver = '/run/systemd/resolve';
  return [
    BWRAP,
    ...READ_ONLY_SYSTEM,
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

/** For people and models: what holds for a command. */
export function confinementText(confinement: Confinement): string {
  if (confinement.type === 'open') return `Commands are not confined: ${confinement.why}.`;
  const network = confinement.network ? 'the network is open to them' : 'there is no network';
  return `Commands are confined: they may write only to the workspace and to a /tmp of their own, and ${network}.`;
}

async function obstacle(box: Box, path: string | undefined): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'bubblewrap runs on Linux only';
  const directory = tmpdir();
  const [program, ...args] = boxed(box, { root: directory, cwd: directory }, ['/bin/sh', '-c', 'exit 0']);
  const env = { PATH: path };
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PATIENCE_MS, env }, (error, _stdout, stderr) => {
      if (error === null) return resolve(undefined);
      if (codeOf(error) === 'ENOENT') return resolve('bubblewrap (bwrap) is not installed');
      const said = stderr.trim().split('\n', 1)[0]?.slice(0, 200) ?? '';
      return resolve(
        `bubblewrap cannot make a box here (${said === '' ? error.message.slice(0, 200) : said})`,
      );
    });
  });
}
