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
        id,
        id,
        fc.constantFrom(...TASK_RESOURCES),
        fc.nat(999_999_999),
        (sessionId, taskId, part, from) => {
          const uri = new URL(taskUri({ sessionId, taskId, part }, from)).href;
          const template = new UriTemplate(from === 0 ? TASK_URI_TEMPLATE : TASK_URI_TEMPLATE_WITH_OFFSET);
          const variables = template.match(uri);
          expect(variables === null ? null : parseTaskUriVariables(variables)).toEqual({
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
    ['a part there is not', { session: 's', task: 't', part: 'secrets' }],
    ['a place that is no number', { session: 's', task: 't', part: 'state', from: '-1' }],
    ['a place beyond any text', { session: 's', task: 't', part: 'state', from: '1234567890' }],
    ['half a character', { session: '%', task: 't', part: 'state' }],
    ['no task', { session: 's', part: 'state' }],
  ])('a URI with %s is invalid', (_, variables) => {
    expect(parseTaskUriVariables(variables)).toBeUndefined();
  });
});
