import { isWellFormedAccountKey, secretHash } from '../domain/accounts/issued-secret.ts';
import { withCurrentNames } from '../domain/spend/former-names.ts';
import { messageText } from '../domain/usage/message-text.ts';
import { isRaw } from '../domain/usage/raw.ts';
import { type UsageEvent, usageEventSchema } from '../domain/usage/usage-event.ts';

/** A message that is not a usage event. `issues` name paths of the schema, never values. */
export class PoisonEventError extends Error {
  override readonly name = 'PoisonEventError';
  readonly issues: readonly string[];

  constructor(issues: readonly string[]) {
    super(`Not a usage event: ${issues.join(', ')}`);
    this.issues = issues;
  }
}

const MAX_ISSUES = 10;

/**
 * An event as it is written now. Version 0.1 named members differently, and named the account by its key, which is a credential:
 * only its hash goes on from here.
 */
const currentEvent = (json: unknown): unknown => {
  if (!isRaw(json)) return json;
  const { unverifiedKey, accountId, ...event } = withCurrentNames(json);
  const key = typeof accountId === 'string' && isWellFormedAccountKey(accountId) ? accountId : unverifiedKey;
  if (typeof key !== 'string') return { ...event, accountId };
  return { ...event, accountId: null, unverifiedKeyHash: secretHash(key) };
};

/** An event of a message, or what stands in its place. */
export interface MessagePart {
  /** Undefined where the message is not JSON. */
  readonly json: unknown;
  /** The text for the dead letters. */
  readonly text: () => string;
}

/** The events of a message: one, or the list of those that a busy gateway sent together. */
export const partsOf = (body: string): readonly MessagePart[] => {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    json = undefined;
  }
  if (!Array.isArray(json) || json.length === 0) return [{ json, text: () => body }];
  return json.map((part: unknown) => ({ json: part, text: () => messageText(part) }));
};

/** @throws PoisonEventError */
export const parseUsageEvent = (body: string): UsageEvent => usageEventOf(partsOf(body)[0]?.json);

/** @throws PoisonEventError */
export const usageEventOf = (json: unknown): UsageEvent => {
  if (json === undefined) throw new PoisonEventError(['not JSON']);
  const { success, data, error } = usageEventSchema.safeParse(currentEvent(json));
  if (success) return data;
  throw new PoisonEventError(
    error.issues.slice(0, MAX_ISSUES).map(({ path, code }) => `${path.map(String).join('.') || 'event'}: ${code}`),
  );
};
