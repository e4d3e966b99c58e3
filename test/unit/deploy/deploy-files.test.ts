/** Tests the files of `deploy/`: systemd judges the unit, and each setting that a file names exists. */
import { describe, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { PersistentVolumeClaim, Service } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { durationSchema } from '../../../a2a-server/runtime/duration.ts';
import { SERVER_SETTINGS } from '../../../a2a-server/startup/settings/settings.ts';
import { STATE_DIRECTORY_VARIABLE } from '../../../shared/state/state-directory.ts';
import { UNFLAGGED_SERVER_SETTINGS } from '../../../a2a-server/startup/settings/unflagged-settings.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const run = promisify(execFile);

/** Validates a resource of each kind against the schemas of the Kubernetes API. */
const KUBERNETES: Readonly<Record<string, (resource: object) => void>> = {
  Service: (resource) => new Service(Object(resource)).validate(),
  PersistentVolumeClaim: (resource) => new PersistentVolumeClaim(Object(resource)).validate(),
  PodDisruptionBudget: (resource) => new PodDisruptionBudget(Object(resource)).validate(),
  StatefulSet: (resource) => new StatefulSet(Object(resource)).validate(),
};

const podTemplate = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        enableServiceLinks: z.boolean().optional(),
        terminationGracePeriodSeconds: z.number(),
        containers: z.array(
          z.object({
            env: z.array(z.object({ name: z.string(), value: z.string().optional() })),
            volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
          }),
        ),
      }),
    }),
  }),
});

const directory = join(process.cwd(), 'deploy');
const read = (name: string): Promise<string> => readFile(join(directory, name), 'utf8');

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!hasSystemd) process.emitWarning('skipped: systemd-analyze is not installed');

describe('the files of deploy/', () => {
  it.each(['Dockerfile', 'compose.yaml', 'kubernetes.yaml', 'a2a-server.service'])(
    '%s names only settings that exist',
    async (name) => {
      const known = Object.values({ ...SERVER_SETTINGS, ...UNFLAGGED_SERVER_SETTINGS }).map(({ env }) => env);
      const named = [...(await read(name)).matchAll(/\bA2A_SERVER_\w+/g)].map(([variable]) => variable);
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((variable) => !known.includes(variable))).toEqual([]);
    },
  );

  it('the container runs without root, and asks the server at its port whether it is ready', async () => {
    const file = await read('Dockerfile');
    const last = file.slice(file.lastIndexOf('\nFROM '));
    expect(last).toMatch(/^USER 1000:1000$/m);
    const check = z
      .array(z.string())
      .parse(JSON.parse(/^HEALTHCHECK [^]*?CMD (\[.*\])$/m.exec(last)?.[1] ?? ''));
    const addresses: string[] = [];
    const checkWith = (variable: string | undefined, ok: boolean) =>
      new Promise((exit) => {
        runInNewContext(String(check.at(-1)), {
          process: { env: { A2A_SERVER_PORT: variable }, exit },
          fetch: async (address: string) => {
            addresses.push(address);
            return { ok };
          },
          AbortSignal,
        });
      });
    expect(await checkWith('4711', true)).toBe(0);
    // For the server, an empty variable is not set.
    expect(await checkWith('', false)).toBe(1);
    expect(await checkWith(undefined, true)).toBe(0);
    expect(addresses).toEqual(
      [4711, SERVER_SETTINGS.port.fallback, SERVER_SETTINGS.port.fallback].map(
        (port) => `http://127.0.0.1:${port}/readyz`,
      ),
    );
  });

  it('the container has an init process: Kubernetes starts none, and zombies of commands would stay', async () => {
    const file = await read('Dockerfile');
    expect(file).toMatch(/apt-get install [^&]* tini /);
    expect(file).toMatch(/^ENTRYPOINT \["tini", "-s", "--", /m);
  });

  it('the secrets of the compose file get neither into git nor into the image', async () => {
    const ignored = (await readFile('.gitignore', 'utf8')).split('\n');
    expect(ignored).toContain('/deploy/.env');
    expect((await read('Dockerfile.dockerignore')).split('\n')).toContain('deploy');
  });

  it('Kubernetes accepts each resource, and a pod has time to drain and to stop its tools', async () => {
    const resources = parseAllDocuments(await read('kubernetes.yaml')).map((document) =>
      z.looseObject({ kind: z.string() }).parse(document.toJS()),
    );
    expect(resources.map(({ kind }) => kind)).toEqual(Object.keys(KUBERNETES));
    for (const resource of resources) expect(() => KUBERNETES[resource.kind]?.(resource)).not.toThrow();
    const { spec } = podTemplate.parse(resources.at(-1)).spec.template;
    const drain = spec.containers[0]?.env.find(({ name }) => name === 'A2A_SERVER_DRAIN')?.value;
    const stopMs = durationSchema.parse(drain) ?? Infinity;
    const graceMs = durationSchema.parse(SERVER_SETTINGS.grace.fallback) ?? Infinity;
    expect(stopMs + graceMs).toBeLessThan(spec.terminationGracePeriodSeconds * 1_000);
  });

  it('in a pod, no variable of a Service is a setting, and the state directory is in its volume', async () => {
    const statefulSet = parseAllDocuments(await read('kubernetes.yaml'))
      .at(-1)
      ?.toJS();
    const { spec } = podTemplate.parse(statefulSet).spec.template;
    expect(spec.enableServiceLinks).toBe(false);
    const [container] = spec.containers;
    const home = container?.env.find(({ name }) => name === STATE_DIRECTORY_VARIABLE)?.value ?? '';
    // The mount belongs to root. The server creates and owns a directory below it.
    expect(container?.volumeMounts.find(({ name }) => name === 'state')?.mountPath).toBe(dirname(home));
  });

  (hasSystemd ? it : it.skip)('systemd accepts the unit, and rates its exposure as low', async () => {
    // systemd checks that the program exists. The package is not installed on this machine.
    const unit = join(await temporaryDirectory(), 'a2a-server.service');
    const text = await read('a2a-server.service');
    await writeFile(
      unit,
      text.replace('ExecStart=/usr/local/bin/a2a-server', `ExecStart=${process.execPath}`),
    );
    const { stdout, stderr } = await run('systemd-analyze', ['verify', unit]);
    expect(stdout + stderr).toBe('');
    // The exposure is a number from 0 (none) to 10, here times 10. An unrestricted service has 9.6.
    await run('systemd-analyze', ['security', '--offline=true', '--threshold=45', unit]);
  });
});
