import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { encodeMcpTaskId, decodeMcpTaskId } from '../../../../bridge/sessions/mcp-task-id.ts';
import { anyCharacter } from '../../../support/any-character.ts';

const text = fc.string({ unit: anyCharacter, minLength: 1 });

describe('the id of an MCP task', () => {
  test('B3 the id contains the session, the task and the agent, with any id of an agent, and fits a header', () => {
    fc.assert(
      fc.property(text, fc.oneof(text, fc.constant('')), (sessionId, taskId) => {
        const id = encodeMcpTaskId({ sessionId, taskId, agent: 'my.agent_1' });
        expect(id).toMatch(/^[\x21-\x7e]+$/);
        expect(decodeMcpTaskId(id)).toEqual({ sessionId, taskId, agent: 'my.agent_1' });
      }),
    );
  });

  test('an id of an earlier version names no agent', () => {
    expect(decodeMcpTaskId('session-1::')).toEqual({ sessionId: 'session-1', taskId: '' });
  });

  test.each(['', 'session-1', '::task', 'a::b::c::d', 'a::b::', 'a::b::ä', 'a b::c', '%::x', 'ä::ö'])(
    '%j is not a valid id',
    (id) => {
      expect(decodeMcpTaskId(id)).toBeUndefined();
    },
  );
});
