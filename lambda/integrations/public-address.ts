import { BlockList, isIPv6 } from 'node:net';

/** What is not the public internet. @see https://www.iana.org/assignments/iana-ipv4-special-registry */
const specialV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local, and the metadata services of clouds.
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

/** Within the one range of global unicast. @see https://www.iana.org/assignments/iana-ipv6-special-registry */
const specialV6: readonly (readonly [string, number])[] = [
  // Protocol assignments, Teredo and documentation among them.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4: leads to whatever IPv4 address it holds.
  ['2002::', 16],
  ['3fff::', 20],
];

const special = new BlockList();
for (const [net, prefix] of specialV4) special.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of specialV6) special.addSubnet(net, prefix, 'ipv6');
const globalUnicastV6 = new BlockList();
globalUnicastV6.addSubnet('2000::', 3, 'ipv6');

/** True for an address of the public internet. IPv6 addresses that wrap an IPv4 one are none. */
export const isPublicAddress = (address: string): boolean =>
  isIPv6(address)
    ? globalUnicastV6.check(address, 'ipv6') && !special.check(address, 'ipv6')
    : !special.check(address, 'ipv4');
