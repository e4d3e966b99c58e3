/** Names the channel over which a message or a decision arrived. Pure. */
import { visibleLine } from './visible-text.ts';

/** The channels of this project. Any client may name its own channel. */
const CHANNELS: Readonly<Record<string, string>> = {
  a2a: 'over A2A',
  card: 'on the approval card in the chat',
  cli: 'on the command line',
  'client-library': 'with the client library',
  disconnect: 'through a disconnect',
  elicitation: 'in a form of the MCP client',
  mcp: 'over MCP',
  page: 'on an approval page',
  'task-form': 'in a form of the MCP client',
  tool: 'in a tool call of the MCP client',
  webhook: 'over the webhook',
};

/**
 * Returns words such as `on the command line`.
 * @param channel any text, because a client may name its own channel; hidden characters are escaped
 */
export function channelText(channel: string): string {
  return knownChannelText(channel) ?? `over "${visibleLine(channel, 100)}"`;
}

/** Returns words such as `on the command line`, or undefined for a channel that this project does not have. */
export function knownChannelText(channel: string): string | undefined {
  return Object.hasOwn(CHANNELS, channel) ? CHANNELS[channel] : undefined;
}
