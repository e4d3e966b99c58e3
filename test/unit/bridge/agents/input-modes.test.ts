import { describe, expect, test } from '@jest/globals';
import { parseAgentCard } from '../../../../bridge/agents/card.ts';
import { refuseUnsupportedFiles } from '../../../../bridge/agents/input-modes.ts';

function card(defaultInputModes: string[], skillModes: string[] = []) {
  return parseAgentCard({
    name: 'some agent',
    supportedInterfaces: [{ url: 'http://a.example', protocolBinding: 'JSONRPC' }],
    defaultInputModes,
    skills: [{ id: 's', name: 's', description: 's', inputModes: skillModes }],
  });
}

const PNG = { name: 'shot.png', mediaType: 'image/png', hash: 'h' };
const TEXT = { name: 'a.md', mediaType: 'text/plain', hash: 'h' };

describe('the file types that an agent accepts', () => {
  test.each([
    [['image/png'], []],
    [['image/*'], []],
    [['*/*'], []],
    [['IMAGE/PNG; q=1'], []],
    [['text/plain'], ['image/png']],
  ])('the types come from the card: %j, and from a skill %j', (modes, skillModes) => {
    expect(() => refuseUnsupportedFiles([PNG], card(modes, skillModes))).not.toThrow();
  });

  test('an agent that accepts text accepts text files', () => {
    expect(() => refuseUnsupportedFiles([TEXT], card(['text']))).not.toThrow();
    expect(() => refuseUnsupportedFiles([TEXT], card(['text/plain']))).not.toThrow();
    expect(() => refuseUnsupportedFiles([TEXT], card(['image/png']))).toThrow('takes no text/plain (a.md)');
  });

  test.each([
    [['text/plain', 'image/jpeg'], 'text/plain, image/jpeg'],
    [[], 'no types'],
  ])('an agent whose card lists %j accepts no other types', (modes, listed) => {
    expect(() => refuseUnsupportedFiles([TEXT, PNG].slice(modes.length === 0 ? 1 : 0), card(modes))).toThrow(
      expect.objectContaining({
        reason: 'UNSUPPORTED_CONTENT',
        message: expect.stringContaining(
          `takes no image/png (shot.png): its card lists ${listed}. Nothing was sent.`,
        ),
      }),
    );
  });
});
