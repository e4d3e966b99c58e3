import { expect, test } from '@jest/globals';
import { mappedWorkspace } from '../../../../bridge/agents/workspaces.ts';

const WORKSPACES = {
  '/home/ada': '/mnt/ada/',
  '/home/ada/src': '/srv/src',
  '/home/ada/win': 'C:\\work',
};

test.each([
  ['/home/ada/src', '/srv/src'],
  ['/home/ada/src/', '/srv/src'],
  ['/home/ada/src/app/web', '/srv/src/app/web'],
  ['/home/ada/src/../notes', '/mnt/ada/notes'],
  ['/home/ada/..hidden', '/mnt/ada/..hidden'],
  ['/home/ada/win/app/web', 'C:\\work\\app\\web'],
  ['/home/ada-lovelace', undefined],
  ['/home', undefined],
  ['/', undefined],
])('%s is called %p by the agent', (path, called) => {
  expect(mappedWorkspace(path, WORKSPACES)).toBe(called);
});
