/** Formats a post for its receiver: JSON for a program, or a message for Slack, Microsoft Teams or ntfy. Pure. */
import type { WebhookSettings } from '../../settings/webhook-settings.ts';
import type { ChatMessage } from './chat-message.ts';
import type { Notice } from './notice.ts';

/** One post, for a program and for a person. */
export interface PostContent {
  notice: Notice;
  message: ChatMessage;
}

/** Returns the function that formats a post as the settings say. */
export function postBody({
  format,
  url,
}: Pick<WebhookSettings, 'format' | 'url'>): (content: PostContent) => string {
  switch (format) {
    case 'json':
      return ({ notice }) => JSON.stringify(notice);
    case 'slack':
      return ({ message }) => JSON.stringify(slackMessage(message));
    case 'teams':
      return ({ message }) => JSON.stringify(teamsMessage(message));
    case 'ntfy':
      return ({ message }) => JSON.stringify(ntfyMessage(message, ntfyAddress(url).topic));
  }
}

/**
 * Splits the address of a topic. ntfy takes JSON only at its root, with the topic in the body
 * (docs.ntfy.sh/publish/#publish-as-json).
 */
export function ntfyAddress(url: string): { root: string; topic: string } {
  const { pathname } = new URL(url);
  const at = pathname.replace(/\/+$/, '').lastIndexOf('/');
  const topic = pathname.slice(at + 1).replace(/\/+$/, '');
  return { root: new URL(pathname.slice(0, at + 1), url).href, topic };
}

/**
 * An incoming webhook (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). A `plain_text` object has no
 * links and no mentions. `text` is the text of the notification.
 */
function slackMessage({ title, lines, page }: ChatMessage): object {
  return {
    text: title,
    blocks: [
      { type: 'header', text: plain(title) },
      { type: 'section', text: plain(lines.join('\n')) },
      ...(page === undefined
        ? []
        : [
            {
              type: 'section',
              text: { type: 'mrkdwn', text: `<${slackText(page)}|Open the approval page>` },
            },
          ]),
    ],
  };
}

const plain = (text: string): object => ({ type: 'plain_text', text, emoji: false });

/** `&`, `<` and `>` are control characters of Slack's markup (docs.slack.dev/messaging/formatting-message-text). */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * An Adaptive Card for the trigger "When a Teams webhook request is received" of Workflows. A `TextRun` has no Markdown,
 * a `TextBlock` has.
 */
function teamsMessage({ title, lines, page }: ChatMessage): object {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      { type: 'TextBlock', text: title, weight: 'Bolder', wrap: true },
      ...lines.map((text) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] })),
    ],
    ...(page === undefined
      ? {}
      : { actions: [{ type: 'Action.OpenUrl', title: 'Open the approval page', url: page }] }),
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}

/** `click` is the page that a tap on the notification opens. Without `markdown`, the message is plain text. */
function ntfyMessage({ title, lines, page }: ChatMessage, topic: string): object {
  return { topic, title, message: lines.join('\n'), ...(page === undefined ? {} : { click: page }) };
}
