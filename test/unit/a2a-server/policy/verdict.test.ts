import { describe, expect, it } from '@jest/globals';
import { verdict, type Judged } from '../../../../a2a-server/policy/verdict.ts';
import type { Grant } from '../../../../a2a-server/task/snapshot.ts';

const builtIn = { type: 'built-in' } as const;
const write: Judged = { tool: 'write-file', source: builtIn, sideEffect: 'files' };
const look: Judged = { tool: 'read-file', source: builtIn, sideEffect: 'none' };

function of(server: string, tool: string): Judged {
  return { tool, source: { type: 'mcp-server', server }, sideEffect: 'other' };
}

function grant(scope: Grant['scope'], { tool, source }: Judged): Grant {
  return { scope, callId: 'call-1', tool, source };
}

describe('verdict', () => {
  it('asks for what has side effects and lets run what has none', () => {
    expect(verdict(write, {}, [])).toEqual({ type: 'ask' });
    expect(verdict(look, {}, [])).toEqual({ type: 'allow', because: { type: 'read-only' } });
  });

  it('R13 asks nothing where everything may run unasked', () => {
    expect(verdict(write, { autoExecute: true }, [])).toMatchObject({ type: 'allow' });
  });

  it('refuses side effects where the task may only look, whatever leave or trust was given', () => {
    const settings = { readOnly: true, autoExecute: true };
    expect(verdict(write, settings, [grant('always', write)]).type).toBe('refuse');
    expect(verdict(look, settings, []).type).toBe('allow');
  });

  it('R12 trust for a tool reaches that tool of that server, and no other', () => {
    const grants = [grant('tool', of('one', 'send'))];
    expect(verdict(of('one', 'send'), {}, grants).type).toBe('allow');
    expect(verdict(of('one', 'erase'), {}, grants).type).toBe('ask');
    expect(verdict(of('two', 'send'), {}, grants).type).toBe('ask');
  });

  it('R12 trust for a server reaches all its tools, and no other server', () => {
    const grants = [grant('server', of('one', 'send'))];
    expect(verdict(of('one', 'erase'), {}, grants).type).toBe('allow');
    expect(verdict(of('two', 'send'), {}, grants).type).toBe('ask');
    expect(verdict(write, {}, grants).type).toBe('ask');
  });

  it('R12 trust for always reaches everything', () => {
    expect(verdict(of('two', 'send'), {}, [grant('always', write)]).type).toBe('allow');
  });
});
