import { describe, expect, test } from '@jest/globals';
import { createWebhookPostFormatter } from '../../../../bridge/approvals/webhook/format-post.ts';
import {
  chatAddress,
  chatBody,
  chatLines,
  type ChatMessage,
  hasValidChatUrl,
} from '../../../../shared/chat/chat-message.ts';

const PAGE = 'http://127.0.0.1:41242/page#task=a&call=b';
const HOSTILE = 'Write <!channel> [a](https://evil.example) *b*';
const notice = { type: 'approval.asked' as const, timestamp: '2026-01-01T00:00:00Z', data: {} };
const message: ChatMessage = { title: 'It waits', lines: ['local', HOSTILE], page: PAGE };
const bodyOf = (format: 'json' | 'slack' | 'teams' | 'ntfy', about = message): unknown =>
  JSON.parse(
    createWebhookPostFormatter({ format, url: 'https://ntfy.example/my-topic' })({ notice, message: about }),
  );

describe('the body of a post', () => {
  test('for a program, it is the notice', () => expect(bodyOf('json')).toEqual(notice));

  test('for Slack, foreign text is plain text, and the page is a link', () => {
    expect(bodyOf('slack')).toEqual({
      text: 'It waits',
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: 'It waits', emoji: false } },
        { type: 'section', text: { type: 'plain_text', text: `local\n${HOSTILE}`, emoji: false } },
        {
          type: 'section',
          text: { type: 'mrkdwn', text: `<${PAGE.replace('&', '&amp;')}|Open the approval page>` },
        },
      ],
    });
  });

  test('for Teams, foreign text is in text runs, which have no Markdown, and the page is an action', () => {
    expect(bodyOf('teams')).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            type: 'AdaptiveCard',
            body: [
              { type: 'TextBlock', text: 'It waits' },
              { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: 'local' }] },
              { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: HOSTILE }] },
            ],
            actions: [{ type: 'Action.OpenUrl', url: PAGE }],
          },
        },
      ],
    });
  });

  test('for ntfy, the topic is in the body, and a tap opens the page', () => {
    expect(bodyOf('ntfy')).toEqual({
      topic: 'my-topic',
      title: 'It waits',
      message: `local\n${HOSTILE}`,
      click: PAGE,
    });
    const topic = { format: 'ntfy', url: 'https://a.example/base/topic/' } as const;
    expect(chatAddress(topic)).toBe('https://a.example/base/');
    expect(JSON.parse(chatBody(topic, message))).toMatchObject({ topic: 'topic' });
  });

  test.each(['slack', 'teams', 'ntfy'] as const)(
    'without a page, the message for %s has no link',
    (format) => {
      const body = JSON.stringify(bodyOf(format, { ...message, page: undefined }));
      expect(body).not.toMatch(/41242|mrkdwn|OpenUrl|click/);
    },
  );
});

test('a message has at most ten actions and 200 characters in a line, and hidden characters are visible', () => {
  const lines = chatLines(
    'about\u202e',
    Array.from({ length: 12 }, () => 'a'.repeat(300)),
  );
  expect(lines).toHaveLength(12);
  expect(lines[0]).not.toContain('\u202e');
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(200);
  expect(lines.at(-1)).toBe('… and 2 more');
});

test('an address of ntfy ends in a topic', () => {
  const urls = ['https://ntfy.sh/a-topic', 'https://ntfy.sh/', 'x'];
  expect(urls.filter((url) => hasValidChatUrl({ format: 'ntfy', url }))).toEqual([urls[0]]);
});
