import { expect, test } from '@jest/globals';
import { toLocalWorkspace, toAgentWorkspace } from '../../../../bridge/agents/workspace-mapping.ts';

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
])('the local path %s has the path %p on the agent’s side', (path, called) => {
  expect(toAgentWorkspace(path, WORKSPACES)).toBe(called);
});

test.each([
  ['/srv/src', '/home/ada/src'],
  ['/srv/src/app/web.ts', '/home/ada/src/app/web.ts'],
  ['/mnt/ada/notes', '/home/ada/notes'],
  ['C:\\work\\app', '/home/ada/win/app'],
  ['/srv/src/../../etc/passwd', undefined],
  ['/srv/srcs', undefined],
  ['/etc/passwd', undefined],
])('the agent’s path %s is %p on this machine', (path, local) => {
  expect(toLocalWorkspace(path, WORKSPACES)).toBe(local);
});
