import { describe, expect, it } from '@jest/globals';
import { commandEnvironment } from '../../../../../a2a-server/tools/shell/command-environment.ts';

describe('the environment variables of a command', () => {
  it('a command gets the listed variables and no other ones', () => {
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

  it('a command gets the variables that the operator names, by name or prefix', () => {
    const environment = { JAVA_HOME: '/j', GOPATH: '/g', GOTOKEN: 'g', OTHER: 'no' };
    expect(commandEnvironment(environment, ['JAVA_HOME', 'GO*'], 'linux')).toEqual({
      JAVA_HOME: '/j',
      GOPATH: '/g',
      GOTOKEN: 'g',
    });
  });

  it('on Windows, variable names match in any case, and keep their spelling', () => {
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
