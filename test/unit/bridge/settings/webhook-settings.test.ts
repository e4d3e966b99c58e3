import { describe, expect, test } from '@jest/globals';
import { webhookSettingsSchema } from '../../../../bridge/settings/webhook-settings.ts';

const secret = { secretEnv: 'SECRET' };

describe('the settings of the approval webhook', () => {
  test.each([
    'https://hooks.example.com/approvals',
    'http://127.0.0.1:8080/hook',
    'http://localhost/hook',
    'http://[::1]:8080/hook',
  ])('the webhook setting %s is accepted', (url) => {
    expect(webhookSettingsSchema.parse({ url, ...secret })).toMatchObject({
      url,
      afterSeconds: 30,
      headers: {},
    });
  });

  test('an http address of a webhook is accepted only with explicit permission', () => {
    const url = 'http://hooks.example.com/approvals';
    expect(() => webhookSettingsSchema.parse({ url, ...secret })).toThrow(/https, or http on this machine/);
    expect(webhookSettingsSchema.parse({ url, ...secret, allowHttp: true }).url).toBe(url);
  });

  test.each(['slack', 'teams', 'ntfy'])('a webhook of %s needs no secret', (format) => {
    expect(webhookSettingsSchema.parse({ url: 'https://a.example/topic', format })).toMatchObject({ format });
  });

  test.each<[object, RegExp]>([
    [{ url: 'https://a.example' }, /secretEnv/],
    [{ url: 'https://a.example/', format: 'ntfy' }, /ntfy topic/],
    [{ url: 'https://a.example/a%20b', format: 'ntfy' }, /ntfy topic/],
    [{ url: 'https://a.example', format: 'discord' }, /format/],
    [{ url: 'https://user:word@a.example', ...secret }, /belongs into a header/],
    [{ url: 'file:///etc/passwd', ...secret }, /url/],
    [{ url: 'http://127.0.0.1.example.com', ...secret }, /https, or http on this machine/],
    [{ url: 'https://a.example', secret: 'in the clear', ...secret }, /secret/],
    [{ url: 'https://a.example', ...secret, afterSeconds: -1 }, /afterSeconds/],
  ])('the webhook setting %j is refused', (given, says) => {
    expect(() => webhookSettingsSchema.parse(given)).toThrow(says);
  });
});
