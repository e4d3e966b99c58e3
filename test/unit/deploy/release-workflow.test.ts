/** Tests the workflow that publishes: the parser of GitHub judges it, and it has no more rights than it needs. */
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';

const PATH = '.github/workflows/release.yml';

const step = z.object({ uses: z.string().optional(), run: z.string().optional() });
const job = z.object({
  permissions: z.record(z.string(), z.string()),
  environment: z.string().optional(),
  needs: z.string().optional(),
  'timeout-minutes': z.number(),
  steps: z.array(step),
});
const workflow = z.object({
  on: z.unknown(),
  permissions: z.object({}).strict(),
  jobs: z.record(z.string(), job),
});

/** @returns the problems that GitHub's own parser finds */
async function problemsIn(content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name: PATH, content }, new NoOperationTraceWriter());
  if (value !== undefined) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

describe('the workflow that publishes a release', () => {
  it('GitHub accepts it, and would refuse an unknown permission, event or key', async () => {
    const content = await readFile(PATH, 'utf8');
    expect(await problemsIn(content)).toEqual([]);
    for (const [from, to] of [
      ['id-token: write', 'id-tokens: write'],
      ['tags: [', 'tag: ['],
      ['timeout-minutes: 60', 'timeout: 60'],
      ['needs: publish', 'needs: nothing'],
      ["contains(github.ref_name, '-')", "contain(github.ref_name, '-')"],
    ] as const) {
      expect(content).toContain(from);
      expect(await problemsIn(content.replace(from, to))).not.toEqual([]);
    }
  });

  it('only a tag starts it, only the job that publishes has an identity, and it waits for a person', async () => {
    const { on, jobs } = workflow.parse(parse(await readFile(PATH, 'utf8')));
    expect(on).toEqual({ push: { tags: ['v*'] } });
    expect(Object.entries(jobs).map(([name, { permissions }]) => [name, permissions])).toEqual([
      ['build', { contents: 'read' }],
      ['publish', { 'id-token': 'write' }],
      ['draft', { contents: 'write' }],
    ]);
    expect(jobs['publish']).toMatchObject({ needs: 'build', environment: 'npm' });
    const publishing = Object.entries(jobs).filter(([, { steps }]) =>
      steps.some(({ run = '' }) => /\bnpm publish\b/.test(run)),
    );
    expect(publishing.map(([name]) => name)).toEqual(['publish']);
  });

  it('each action is pinned to a commit, and no text of the event becomes a command', async () => {
    const content = await readFile(PATH, 'utf8');
    const steps = Object.values(workflow.parse(parse(content)).jobs).flatMap((each) => each.steps);
    for (const { uses, run } of steps) {
      if (uses !== undefined) expect(uses).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40}$/);
      expect(run ?? '').not.toContain('${{');
    }
    expect(content).not.toMatch(/secrets\./);
  });
});
