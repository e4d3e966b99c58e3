import { describe, expect, it } from '@jest/globals';
import { commandEnvironment } from '../../../../../a2a-server/tools/shell/command-environment.ts';

describe('commandEnvironment', () => {
  it('passes the listed variables and nothing else', () => {
    const environment = {
      PATH: '/bin',
      LC_TIME: 'C',
      LCX: 'no',
      GITHUB_TOKEN: 'no',
      NODE_OPTIONS: 'no',
      TERM: undefined,
    };
    expect(commandEnvironment(environment, [], 'linux')).toEqual({ PATH: '/bin', LC_TIME: 'C' });
  });

  it('passes the variables that the operator names, by name or prefix', () => {
    const environment = { JAVA_HOME: '/j', GOPATH: '/g', GOTOKEN: 'g', OTHER: 'no' };
    expect(commandEnvironment(environment, ['JAVA_HOME', 'GO*'], 'linux')).toEqual({
      JAVA_HOME: '/j',
      GOPATH: '/g',
      GOTOKEN: 'g',
    });
  });

  it('matches names of Windows in any case, and keeps their spelling', () => {
    const environment = {
      Path: 'C:\\',
      SystemRoot: 'C:\\Windows',
      'ProgramFiles(x86)': 'C:\\P',
      Secret: 'no',
      path_key: 'no',
    };
    expect(commandEnvironment(environment, [], 'win32')).toEqual({
      Path: 'C:\\',
      SystemRoot: 'C:\\Windows',
      'ProgramFiles(x86)': 'C:\\P',
    });
    expect(commandEnvironment(environment, [], 'linux')).toEqual({});
  });
});
