import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { isPublicAddress } from '../../lambda/integrations/webhook.ts';

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
    ['zero', '0.0.0.0'],
    ['zero network', '0.255.255.255'],
    ['private', '10.1.2.3'],
    ['CGNAT, first', '100.64.0.0'],
    ['CGNAT', '100.64.0.1'],
    ['CGNAT, last', '100.127.255.255'],
    ['loopback', '127.0.0.1'],
    ['loopback, last', '127.255.255.255'],
    ['link-local', '169.254.0.1'],
    ['metadata service', '169.254.169.254'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['IETF protocols', '192.0.0.9'],
    ['documentation', '192.0.2.1'],
    ['6to4 relay', '192.88.99.1'],
    ['private', '192.168.0.1'],
    ['benchmarking', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['multicast, last', '239.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['zero', '::'],
    ['loopback', '::1'],
    ['loopback, written out', '0:0:0:0:0:0:0:1'],
    ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
    ['IPv4-mapped loopback in hexadecimal', '::ffff:7f00:1'],
    ['IPv4-mapped public address', '::ffff:8.8.8.8'],
    ['IPv4-translated loopback', '::ffff:0:127.0.0.1'],
    ['IPv4-compatible loopback', '::127.0.0.1'],
    ['IPv4-compatible loopback, as new URL() writes it', '::7f00:1'],
    ['NAT64 of loopback', '64:ff9b::7f00:1'],
    ['NAT64 of the metadata service', '64:ff9b::169.254.169.254'],
    ['NAT64, local', '64:ff9b:1::7f00:1'],
    ['discard-only', '100::1'],
    ['Teredo', '2001::1'],
    ['benchmarking', '2001:2::1'],
    ['documentation', '2001:db8::1'],
    ['6to4 of loopback', '2002:7f00:1::'],
    ['6to4 of a public address', '2002:808:808::1'],
    ['AS112', '2620:4f:8000::1'],
    ['documentation', '3fff::1'],
    ['unassigned', '4000::1'],
    ['segment routing', '5f00::1'],
    ['unique local', 'fc00::1'],
    ['unique local metadata service', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
  ])('refuses %s: %s', (_kind, address) => {
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

  /** The networks that ipaddr.js knows a special use for. Its types leave them out. */
  const specialNetworks = <Address>({ prototype }: { readonly prototype: object }): [Address, number][] =>
    Object.values(
      (prototype as { SpecialRanges: Record<string, [Address, number][] | [Address, number]> }).SpecialRanges,
    ).flatMap((entry) => (Array.isArray(entry[0]) ? entry : [entry]) as [Address, number][]);

  /** First and last address of a network, and their neighbours outside. */
  const edges = (bytes: readonly number[], prefix: number): number[][] => {
    const bits = BigInt(bytes.length * 8);
    const first = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
    const last = first + (1n << (bits - BigInt(prefix))) - 1n;
    return [first - 1n, first, last, last + 1n]
      .filter((address) => address >= 0n && address < 1n << bits)
      .map((address) => [...Buffer.from(address.toString(16).padStart(bytes.length * 2, '0'), 'hex')]);
  };

  it('agrees with ipaddr.js at the edges of every special IPv4 network', () => {
    const addresses = specialNetworks<ipaddr.IPv4>(ipaddr.IPv4).flatMap(([{ octets }, prefix]) =>
      edges(octets, prefix),
    );
    expect(addresses.length).toBeGreaterThan(60);
    for (const address of addresses.map((bytes) => ipaddr.fromByteArray(bytes)))
      expect([String(address), isPublicAddress(String(address))]).toEqual([
        String(address),
        address.range() === 'unicast',
      ]);
  });

  it('refuses the edges of every special IPv6 network of ipaddr.js', () => {
    const addresses = specialNetworks<ipaddr.IPv6>(ipaddr.IPv6)
      .flatMap(([address, prefix]) => edges(address.toByteArray(), prefix))
      .map((bytes) => ipaddr.fromByteArray(bytes))
      .filter((address) => address.range() !== 'unicast');
    expect(addresses.length).toBeGreaterThan(40);
    for (const address of addresses)
      expect([String(address), isPublicAddress(String(address))]).toEqual([String(address), false]);
  });
});
