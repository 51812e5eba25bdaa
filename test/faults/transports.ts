import { nodeUpstream } from '../../lambda/gateway/upstream-node.ts';
import { undiciUpstream } from '../../lambda/gateway/upstream-undici.ts';

/** The server's way to providers, and Lambda's: the same must hold for both. */
export const transports = { undici: undiciUpstream, 'node:http': nodeUpstream } as const;

export type TransportName = keyof typeof transports;
export const transportNames = Object.keys(transports) as TransportName[];
