import { expect, test } from '@jest/globals';
import { HttpSentReplies } from '../../../../../bridge/transports/http/http-sent-replies.ts';

function answersOf() {
  const received: string[] = [];
  const answers = new HttpSentReplies();
  const send = (id: string) => answers.sent(id, [() => received.push(id)]);
  return { answers, send, received };
}

test('a client has a response after it is written and the client calls again, in any order', () => {
  const { answers, send, received } = answersOf();
  for (const id of ['a', 'b']) send(id);
  answers.written('a');
  expect(received).toEqual([]);
  answers.confirm();
  expect(received).toEqual(['a']);
  answers.written('b');
  answers.confirm();
  expect(received).toEqual(['a', 'b']);
});

test('a response that ended before its result was sent confirms nothing', () => {
  const { answers, send, received } = answersOf();
  answers.written('a');
  send('a');
  answers.confirm();
  expect(received).toEqual([]);
});

test('S3 of more than 500 interrupted responses, the oldest are dropped', () => {
  const { answers, send, received } = answersOf();
  for (let n = 0; n <= 500; n += 1) send(String(n));
  answers.confirm();
  for (let n = 0; n <= 500; n += 1) answers.written(String(n));
  expect(received).toHaveLength(500);
  expect(received[0]).toBe('1');
});
