import { RateLimitedError } from '../domain/errors.ts';
import type { Input, Operation, RateLimit, RateLimits } from './operation.ts';

/**
 * Counts a request of a subject for an operation.
 *
 * @param name of the counter: operation and kind of subject
 * @returns the requests in the window that is open now, this one included, and when the window ends
 */
export type CountRequest = (
  name: string,
  subject: string,
  windowMinutes: number,
) => Promise<{ readonly requests: number; readonly endsInSeconds: number }>;

/** The network that a client's address counts for. @param address IPv4, IPv6, or IPv4 in IPv6 */
export const clientNetwork = (address: string): string => {
  const inIpv6 = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (inIpv6 !== undefined || !address.includes(':')) return inIpv6 ?? address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = (text: string | undefined) => (text ? text.split(':') : []);
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
};

const subjectNames: Readonly<Record<keyof RateLimits, string>> = {
  perClient: 'from your network',
  perEmail: 'for this e-mail address',
  perAccount: 'of this account',
};

const waitFor = (seconds: number): string =>
  seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;

/** @throws RateLimitedError */
export const enforceRateLimits = async (
  { id, rateLimits = {} }: Operation,
  { clientAddress, body, caller }: Pick<Input<Operation>, 'clientAddress' | 'body' | 'caller'>,
  countRequest: CountRequest | undefined,
): Promise<void> => {
  const { email } = (body ?? {}) as { readonly email?: string };
  const subjects: Readonly<Record<keyof RateLimits, string | undefined>> = {
    perClient: clientAddress && clientNetwork(clientAddress),
    perEmail: email,
    perAccount: caller?.accountId,
  };
  for (const [kind, limit] of Object.entries(rateLimits) as [keyof RateLimits, RateLimit][]) {
    const subject = subjects[kind];
    if (subject === undefined || countRequest === undefined) throw new Error(`${id} cannot be limited ${kind}.`);
    const { requests, endsInSeconds } = await countRequest(`${id}#${kind}`, subject, limit.minutes);
    if (requests <= limit.requests) continue;
    throw new RateLimitedError(
      `Too many requests of this kind ${subjectNames[kind]}: at most ${limit.requests} in ${limit.minutes} minutes. Try again in ${waitFor(endsInSeconds)}.`,
      endsInSeconds,
    );
  }
};

/** The limits of an operation in one sentence; undefined if it has none. */
export const rateLimitText = ({ rateLimits = {} }: Operation): string | undefined => {
  const limits = (Object.entries(rateLimits) as [keyof RateLimits, RateLimit][]).map(
    ([kind, { requests, minutes }]) => `${requests} requests in ${minutes} minutes ${subjectNames[kind]}`,
  );
  return limits.length === 0 ? undefined : `At most ${limits.join(', ')}.`;
};
