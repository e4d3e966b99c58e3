/** Formats a post for its receiver: JSON for a program, or a message for a chat. Pure. */
import { chatBody, type ChatMessage } from '../../../shared/chat/chat-message.ts';
import type { WebhookSettings } from '../../settings/webhook-settings.ts';
import type { WebhookNotice } from './notice.ts';

/** The content of one post, in a form for programs and in a form for people. */
export interface NoticeAndMessage {
  notice: WebhookNotice;
  message: ChatMessage;
}

/** Returns the function that formats posts in the format of the settings. */
export function createWebhookPostFormatter({
  format,
  url,
}: Pick<WebhookSettings, 'format' | 'url'>): (content: NoticeAndMessage) => string {
  return format === 'json'
    ? ({ notice }) => JSON.stringify(notice)
    : ({ message }) => chatBody({ format, url }, message);
}
