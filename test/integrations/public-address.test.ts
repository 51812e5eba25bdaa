import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPublicAddress } from '../../lambda/integrations/public-address.ts';

describe('isPublicAddress', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '192.167.1.1',
    '2606:4700::1111',
    '2a00:1450:4001::1',
  ])('lets %s pass', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'ff02::1',
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('refuses every IPv4 address that is wrapped in an IPv6 one', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPublicAddress(`::ffff:${address}`)).toBe(false);
        expect(isPublicAddress(`64:ff9b::${address}`)).toBe(false);
      }),
    );
  });
});
