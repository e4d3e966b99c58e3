import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openModelsDev, type ModelsDev } from '../../../scripts/models-dev.ts';

const FILES = {
  'models/maker/base.toml': 'reasoning = true\ntemperature = false\n[limit]\ncontext = 9\noutput = 128_000\n',
  'providers/maker/models/derived.toml':
    'base_model = "maker/base"\n[[reasoning_options]]\ntype = "effort"\nvalues = ["minimal", "low", "high", "max"]\n',
  'providers/maker/models/budget.toml':
    'reasoning = true\ntemperature = true\n[[reasoning_options]]\ntype = "budget_tokens"\n',
  'providers/maker/models/old-20240101.toml': 'reasoning = false\n[limit]\noutput = 2_048\n',
  'providers/maker/models/old-20240601.toml': 'reasoning = false\n[limit]\noutput = 4_096\n',
  'providers/maker/models/toggle.toml':
    'reasoning = true\n[[reasoning_options]]\ntype = "toggle"\n[limit]\noutput = 0\n',
};

describe('a copy of the repository models.dev', () => {
  let checkout: string;
  let modelsDev: ModelsDev;

  beforeAll(async () => {
    checkout = await mkdtemp(join(tmpdir(), 'models-dev-'));
    for (const [path, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(checkout, path)), { recursive: true });
      await writeFile(join(checkout, path), text);
    }
    const git = (...args: string[]) => execFileSync('git', ['-C', checkout, ...args]);
    git('init', '-q');
    git('add', '.');
    git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-qm', 'models', '--no-gpg-sign');
    modelsDev = openModelsDev(checkout);
  });
  afterAll(() => rm(checkout, { recursive: true, force: true }));

  test.each([
    ['derived', { maxOutputTokens: 128_000, efforts: ['low', 'high'], temperature: false }],
    ['budget', { efforts: ['low', 'medium', 'high'] }],
    ['old', { maxOutputTokens: 4_096, efforts: [] }],
    ['old-latest', { maxOutputTokens: 4_096, efforts: [] }],
    ['old-20240101', { maxOutputTokens: 2_048, efforts: [] }],
    ['toggle', {}],
    ['unknown', {}],
  ])('the copy has the limits of %s', (model, limits) => {
    expect(modelsDev.factsOf('maker', [model]).limits).toEqual(limits);
  });

  test('the copy names its commit and the date', () => {
    expect(modelsDev.source).toMatch(/models\.dev, commit [0-9a-f]{7,} of \d{4}-\d{2}-\d{2}$/);
  });

  test('a directory without the repository is refused', () => {
    expect(() => openModelsDev(join(checkout, 'models'))).toThrow(/is not a checkout of https:/);
  });
});
