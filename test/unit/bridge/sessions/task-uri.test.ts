import { describe, expect, test } from '@jest/globals';
import { UriTemplate } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import {
  parseTaskUriVariables,
  TASK_RESOURCES,
  TASK_URI_TEMPLATE,
  TASK_URI_TEMPLATE_WITH_OFFSET,
  taskUri,
} from '../../../../bridge/sessions/task-uri.ts';

const id = fc.oneof(
  { weight: 4, arbitrary: fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' }) },
  fc.constantFrom('.', '..', '~.', '~~..', '...'),
);

describe('the URI of a part of a task', () => {
  test('the URI decodes to the part, with any characters in the agent’s ids', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/),
        id,
        id,
        fc.constantFrom(...TASK_RESOURCES),
        fc.nat(999_999_999),
        (agent, sessionId, taskId, part, from) => {
          const uri = new URL(taskUri({ agent, sessionId, taskId, part }, from)).href;
          const template = new UriTemplate(from === 0 ? TASK_URI_TEMPLATE : TASK_URI_TEMPLATE_WITH_OFFSET);
          const variables = template.match(uri);
          expect(variables === null ? null : parseTaskUriVariables(variables)).toEqual({
            agent,
            sessionId,
            taskId,
            part,
            from,
          });
        },
      ),
    );
  });

  test.each([
    ['a part there is not', { agent: 'a', session: 's', task: 't', part: 'secrets' }],
    ['a place that is no number', { agent: 'a', session: 's', task: 't', part: 'state', from: '-1' }],
    ['a place beyond any text', { agent: 'a', session: 's', task: 't', part: 'state', from: '1234567890' }],
    ['half a character', { agent: 'a', session: '%', task: 't', part: 'state' }],
    ['no agent', { session: 's', task: 't', part: 'state' }],
    ['no task', { agent: 'a', session: 's', part: 'state' }],
  ])('a URI with %s is invalid', (_, variables) => {
    expect(parseTaskUriVariables(variables)).toBeUndefined();
  });
});
