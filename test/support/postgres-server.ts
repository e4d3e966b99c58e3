/**
 * Starts a real PostgreSQL for tests. It listens on a socket in a temporary directory, so it needs no port. It ends with
 * the test process, even if that is killed.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { findPrograms, provideBinaries, temporaryRoot, USER } from './postgres-programs.ts';

const programs = findPrograms();

/** The reason why no PostgreSQL can run here. Undefined if one can. */
export const whyNoPostgres = programs.type === 'missing' ? programs.why : undefined;

/** The time limit of a start, in milliseconds. `initdb` takes long on a busy machine. */
export const START_LIMIT_MS = 120_000;

/**
 * Waits for the end of the test process, which closes the pipe. Then ends PostgreSQL and deletes its files. The first
 * line of `postmaster.pid` is the process id.
 */
const END_WITH_TEST = `
  read -r _
  for data in "$1/data" "$1/standby/data"; do
    if pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null); then
      kill -QUIT "$pid"
      while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    fi
  done
  rm -rf "$@"`;

export interface PostgresServer {
  /** Creates an empty database. @param options of `CREATE DATABASE` @returns its URL */
  createDatabase(options?: string): Promise<string>;
  dropDatabase(url: string): Promise<void>;
  /** Lets clients connect to the database, or ends all their connections and refuses new ones. */
  allowConnections(url: string, allowed: boolean): Promise<void>;
  /** Ends PostgreSQL without a shutdown of its own, as a crash of the machine does. */
  crash(): Promise<void>;
  /** Stops PostgreSQL. Its data stay. */
  stop(): Promise<void>;
  /** Starts a stopped PostgreSQL again. */
  start(): Promise<void>;
  /**
   * Adds a standby with streaming replication. From then on, a commit waits until the standby has it. Restarts this
   * server.
   */
  addSynchronousStandby(): Promise<Standby>;
  /** Stops PostgreSQL and deletes its data. */
  dispose(): Promise<void>;
}

export interface Standby {
  /** Makes the standby a primary. */
  promote(): Promise<void>;
  /** Returns the URL of the same database at the standby. */
  urlOf(url: string): string;
}

/** @param options settings of PostgreSQL, such as `max_connections=20` */
export async function startPostgres(...options: string[]): Promise<PostgresServer> {
  if (programs.type === 'missing') throw new Error(programs.why);
  const directory = await mkdtemp(join(temporaryRoot(), 'pg-'));
  if (USER !== undefined) await chown(directory, USER.uid, USER.gid);
  const { bin, copy } = await provideBinaries(programs);
  const directories = [directory, ...(copy === undefined ? [] : [copy])];
  const guard = endWithTest(directories);
  const data = join(directory, 'data');
  const run = promisify(execFile);
  await run(
    join(bin, 'initdb'),
    ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', '--locale=C', '-E', 'UTF8'],
    { ...USER },
  );
  const base = ['listen_addresses=', 'fsync=off', 'shared_buffers=16MB', ...options];
  let settings = base;
  let server: ChildProcess | undefined;
  let standby: ChildProcess | undefined;
  let databases = 0;

  async function start(): Promise<void> {
    server = await startProgram(bin, { data, directory, settings });
  }

  /** @param signal SIGINT: fast shutdown; SIGQUIT: immediate shutdown (PostgreSQL, section 18.5) */
  const end = (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => endProgram(server, signal);

  const administer = (statement: string, host = directory): Promise<void> => runStatement(host, statement);

  /** A copy of the stopped primary's data is a valid start of a standby (PostgreSQL, section 26.3.3). */
  async function addSynchronousStandby(): Promise<Standby> {
    const home = join(directory, 'standby');
    await run('mkdir', ['-m', '700', home], { ...USER });
    const copied = join(home, 'data');
    await end('SIGINT');
    await run('cp', ['-a', data, copied]);
    await run('touch', [join(copied, 'standby.signal')], { ...USER });
    settings = [...base, 'synchronous_standby_names=*'];
    const starting = start();
    standby = await startProgram(bin, {
      data: copied,
      directory: home,
      settings: [...base, `primary_conninfo=host=${directory} user=postgres`],
    });
    await starting;
    return {
      promote: () => administer('SELECT pg_promote()', home),
      urlOf(url) {
        const own = new URL(url);
        own.searchParams.set('host', home);
        return own.href;
      },
    };
  }

  await start();
  return {
    async createDatabase(more = '') {
      databases += 1;
      const name = `test_${databases}`;
      await administer(`CREATE DATABASE ${name} STRATEGY file_copy ${more}`);
      return `postgres:///${name}?user=postgres&host=${encodeURIComponent(directory)}`;
    },
    dropDatabase: (url) => administer(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`),
    async allowConnections(url, allowed) {
      const name = new URL(url).pathname.slice(1);
      await administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${allowed}`);
      if (!allowed)
        await administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    },
    crash: () => end('SIGQUIT'),
    stop: () => end('SIGINT'),
    start,
    addSynchronousStandby,
    async dispose() {
      await end('SIGQUIT');
      await endProgram(standby, 'SIGQUIT');
      guard?.kill('SIGKILL');
      for (const each of directories) await rm(each, { recursive: true, maxRetries: 5 });
    },
  };
}

interface Started {
  data: string;
  /** The directory of the socket. */
  directory: string;
  settings: readonly string[];
}

async function startProgram(bin: string, { data, directory, settings }: Started): Promise<ChildProcess> {
  const started = spawn(
    join(bin, 'postgres'),
    ['-D', data, '-k', directory, ...settings.flatMap((each) => ['-c', each])],
    { ...USER, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await new Promise<void>((resolve, reject) => {
    let output = '';
    started.stderr.on('data', (text: Buffer) => {
      output += text.toString();
      if (/ready to accept (?:read-only )?connections/.test(output)) resolve();
    });
    started.once('error', reject);
    started.once('exit', () => reject(new Error(`PostgreSQL has ended: ${output}`)));
  });
  return started;
}

async function endProgram(server: ChildProcess | undefined, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill(signal);
  await ended;
}

async function runStatement(host: string, statement: string): Promise<void> {
  const client = new Client({ host, user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** The script needs a POSIX shell, which Windows does not have. */
function endWithTest(directories: readonly string[]): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined;
  const guard = spawn('sh', ['-c', END_WITH_TEST, 'sh', ...directories], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // An interrupt of the terminal reaches the test, but not this process.
    detached: true,
  });
  guard.unref();
  if (guard.stdin instanceof Socket) guard.stdin.unref();
  return guard;
}
