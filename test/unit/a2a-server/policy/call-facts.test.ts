import { describe, expect, it } from '@jest/globals';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { resolveTargets } from '../../../../a2a-server/policy/call-facts.ts';
import { builtinTools } from '../../../../a2a-server/tools/builtin/builtin-tools.ts';
import { openWorkspace } from '../../../../a2a-server/tools/workspace/workspace.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

function tool(name: string) {
  const found = builtinTools().find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no tool ${name}`);
  return found;
}

describe('reachOf, the paths and hosts that a call uses', () => {
  it('reachOf gives the written and the resolved path, relative to the workspace', async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, 'real'));
    await writeFile(join(root, 'real', 'a.txt'), 'x');
    await symlink('real', join(root, 'link'));
    const workspace = await openWorkspace(root);
    const written = join(workspace.root, 'x', '..', 'link', 'a.txt');
    const { paths } = await resolveTargets(tool('read-file'), { path: written }, workspace);
    expect(paths).toEqual([{ written: 'link/a.txt', leadsTo: 'real/a.txt' }]);
    const { trees } = await resolveTargets(tool('search-files'), { pattern: 'x', path: '.' }, workspace);
    expect(trees).toEqual([{ written: '.', leadsTo: '.' }]);
    const outside = await resolveTargets(tool('read-file'), { path: '../x' }, workspace);
    expect(outside.paths).toEqual([{ written: '../x', leadsTo: '../x' }]);
    const deleted = await resolveTargets(tool('delete-file'), { path: 'real', recursive: true }, workspace);
    expect(deleted).toMatchObject({ paths: [], trees: [{ leadsTo: 'real' }] });
  });

  it.each(['https://Example.COM:8443/x', 'http://example.com./', 'https://ex%61mple.com/'])(
    'reachOf gives the host of %s',
    async (url) => {
      const workspace = await openWorkspace(await temporaryDirectory());
      expect(await resolveTargets(tool('fetch'), { url }, workspace)).toMatchObject({
        hosts: ['example.com'],
      });
    },
  );

  it('every tool with a path, a command or a URL declares how to find it in the input', () => {
    for (const each of builtinTools()) {
      const { properties = {} } = z.toJSONSchema(each.schema, { io: 'input' });
      const named = Object.keys(properties).some((key) => /path|command|url|^from$|^to$/iu.test(key));
      expect({ tool: each.name, reach: each.reach !== undefined }).toEqual({ tool: each.name, reach: named });
    }
  });
});
