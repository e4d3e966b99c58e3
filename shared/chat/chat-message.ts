/**
 * A message for a person in a chat or on a phone. D5: a person can approve only what is shown in full, and a chat cannot
 * show an action in full. So a message offers no decision, and contains neither a preview nor a code. This file also
 * formats the message for Slack, Microsoft Teams and ntfy. Pure.
 */
import { parseUrl } from '../net/parse-url.ts';
import { ellipsize } from '../text/shortened-text.ts';
import { visibleLine } from '../text/visible-text.ts';

const MAX_ACTIONS = 10;
/** The maximum length of one line in characters. */
const MAX_LINE_CHARACTERS = 200;

export interface ChatMessage {
  title: string;
  /** The lines as plain text. They may contain text of the agent, so a receiver must not interpret markup in them. */
  lines: readonly string[];
  /** The URL of the approval page, without a credential. Undefined if the sender knows no page of this agent. */
  page: string | undefined;
}

/** Returns the lines of a message: first `about`, then at most ten actions, then the number of further actions. */
export function chatLines(about: string, actions: readonly string[]): readonly string[] {
  const more = actions.length - MAX_ACTIONS;
  return [about, ...actions.slice(0, MAX_ACTIONS), ...(more > 0 ? [`… and ${String(more)} more`] : [])].map(
    (line) => ellipsize(visibleLine(line), MAX_LINE_CHARACTERS),
  );
}

export const CHAT_FORMATS = ['slack', 'teams', 'ntfy'] as const;

/** A service for messages. `url` is the address of its webhook, or of a topic of ntfy. */
interface ChatService {
  format: (typeof CHAT_FORMATS)[number];
  url: string;
}

/** Returns the JSON of a message for this service. */
export function chatBody({ format, url }: ChatService, message: ChatMessage): string {
  switch (format) {
    case 'slack':
      return JSON.stringify(slackMessage(message));
    case 'teams':
      return JSON.stringify(teamsMessage(message));
    case 'ntfy':
      return JSON.stringify(ntfyMessage(message, ntfyTopic(url).topic));
  }
}

/** Returns the address to which a message is posted. */
export function chatAddress({ format, url }: ChatService): string {
  return format === 'ntfy' ? ntfyTopic(url).root : url;
}

/** Matches the path of an ntfy URL. It ends in a topic: up to 64 letters, digits, `_` and `-`. */
const NTFY_TOPIC = /\/[-\w]{1,64}\/?$/;

/** False if the format is `ntfy` and the URL does not end in a valid name of a topic. Sends no request. */
export function hasValidChatUrl({ format, url }: ChatService): boolean {
  return format !== 'ntfy' || NTFY_TOPIC.test(parseUrl(url)?.pathname ?? '');
}

/**
 * Splits the URL of an ntfy topic into the server and the topic. ntfy accepts JSON only at its root URL, with the topic
 * in the body (docs.ntfy.sh/publish/#publish-as-json).
 */
function ntfyTopic(url: string): { root: string; topic: string } {
  const { pathname } = new URL(url);
  const at = pathname.replace(/\/+$/, '').lastIndexOf('/');
  const topic = pathname.slice(at + 1).replace(/\/+$/, '');
  return { root: new URL(pathname.slice(0, at + 1), url).href, topic };
}

/**
 * Formats a message for a Slack incoming webhook (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
 * Untrusted text is in `plain_text` objects, in which Slack shows no links and no mentions. `text` is the text of the
 * notification.
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

/**
 * Escapes the control characters of Slack's markup: `&`, `<` and `>`
 * (docs.slack.dev/messaging/formatting-message-text).
 */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Formats a message as an Adaptive Card, for the Teams trigger "When a Teams webhook request is received". Untrusted
 * text is in a `TextRun`, because a `TextBlock` would interpret Markdown.
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

/**
 * Formats a message for ntfy. `click` is the page that opens when the person taps the notification. ntfy shows plain
 * text, because the field `markdown` is absent.
 */
function ntfyMessage({ title, lines, page }: ChatMessage, topic: string): object {
  return { topic, title, message: lines.join('\n'), ...(page === undefined ? {} : { click: page }) };
}
