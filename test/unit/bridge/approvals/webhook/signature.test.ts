import { expect, test } from '@jest/globals';
import { signatureHeaders } from '../../../../../bridge/approvals/webhook/signature.ts';

test('the signature of a webhook post equals the example of the standard', () => {
  // The example is from the library tests of https://github.com/standard-webhooks/standard-webhooks.
  const signed = signatureHeaders(
    { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' },
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  );
  expect(signed).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});
