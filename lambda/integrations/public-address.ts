import { BlockList, isIPv6 } from 'node:net';

/*
 * Own code, since ipaddr.js 2.5.0 calls `::7f00:1` (127.0.0.1 as IPv4-compatible IPv6) and all unassigned IPv6 space unicast, and
 * adds 12 kB to a bundle. The tests compare both.
 */

/** Networks that are not the public internet. @see https://www.iana.org/assignments/iana-ipv4-special-registry */
const specialV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local; clouds have their metadata services here.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Special networks inside 2000::/3, the only range of global unicast. @see https://www.iana.org/assignments/iana-ipv6-special-registry */
const specialV6: readonly (readonly [string, number])[] = [
  // Protocol assignments, including Teredo.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4: routes to the IPv4 address inside it.
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

const special = new BlockList();
for (const [net, prefix] of specialV4) special.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of specialV6) special.addSubnet(net, prefix, 'ipv6');
const globalUnicastV6 = new BlockList();
globalUnicastV6.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether an address belongs to the public internet. An IPv6 address that contains an IPv4 address never does.
 *
 * @param address a valid IPv4 or IPv6 address
 */
export const isPublicAddress = (address: string): boolean =>
  isIPv6(address)
    ? globalUnicastV6.check(address, 'ipv6') && !special.check(address, 'ipv6')
    : !special.check(address, 'ipv4');
