/** Counts the objects of a running process from outside. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { bundleProgram } from '../../scripts/bundle-program.mjs';
import { CENSUS_SOCKET, counts, type Counts } from './counts.ts';

/** `descriptors` is the number of open file descriptors. It is 0 on systems other than Linux. */
export type Census = Omit<Counts, 'pid'> & { descriptors: number };

interface CensusTaker {
  /** The environment variables of the program that is counted. */
  env: Readonly<Record<string, string>>;
  take(): Promise<Census>;
  remove(): Promise<void>;
}

export async function censusTaker(): Promise<CensusTaker> {
  const program = await bundleProgram('test/soak/programs/census-taker.ts');
  // Linux limits the path of a socket to 108 bytes.
  const directory = await mkdtemp(join(tmpdir(), 'census-'));
  const socket = join(directory, 'socket');
  return {
    env: { NODE_OPTIONS: `--import=${pathToFileURL(program).href}`, [CENSUS_SOCKET]: socket },
    async take() {
      const { pid, ...counted } = counts.parse(JSON.parse(await text(connect(socket))));
      return { ...counted, descriptors: await descriptorsOf(pid) };
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

async function descriptorsOf(pid: number): Promise<number> {
  return process.platform === 'linux' ? (await readdir(`/proc/${pid}/fd`)).length : 0;
}
