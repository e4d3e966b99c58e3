import { describe, expect, it } from '@jest/globals';
import { networkInterfaces } from 'node:os';
import { whyNotPublic } from '../../../../../a2a-server/tools/web/public-address.ts';

const SPECIAL = `
  127.0.0.1 127.255.255.254 ::1 0.0.0.0 :: 0.1.2.3 10.0.0.1 172.16.0.1
  172.31.255.255 192.168.1.1 fd00::1 fc00::1 fec0::1 169.254.169.254 fe80::1
  fe80::1%eth0 fd00:ec2::254 100.64.0.1 100.100.100.200 224.0.0.1 239.255.255.250
  ff02::1 255.255.255.255 240.0.0.1 168.63.129.16 192.0.0.192 192.0.2.1 198.18.0.1
  198.51.100.1 203.0.113.1 2001:db8::1 100::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8
  ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::7f00:1 2002:7f00:1::
  2001:0:7f00:1:: ::127.0.0.1 ::8.8.8.8 4000::1 localhost 1.2.3
`
  .trim()
  .split(/\s+/u);

describe('notPublic, the check for private addresses', () => {
  it.each(SPECIAL)('X2 notPublic refuses %s', (address) => {
    expect(whyNotPublic(address)).toEqual(expect.any(String));
  });

  it.each(['8.8.8.8', '93.184.215.14', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::8a'])(
    'notPublic accepts %s',
    (address) => {
      expect(whyNotPublic(address)).toBeUndefined();
    },
  );

  it('X2 notPublic refuses the machine’s own addresses', () => {
    for (const own of Object.values(networkInterfaces()).flat())
      expect(whyNotPublic(own?.address ?? '')).toEqual(expect.any(String));
  });
});
