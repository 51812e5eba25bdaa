import { withCurrentNames } from '../domain/spend/former-names.ts';
import { type UsageEvent, usageEventSchema } from '../domain/usage/usage-event.ts';

/** A message that is no usage event and never will be one. `issues` name places in it, never what stands there. */
export class PoisonEventError extends Error {
  override readonly name = 'PoisonEventError';
  readonly issues: readonly string[];

  constructor(issues: readonly string[]) {
    super(`Not a usage event: ${issues.join(', ')}`);
    this.issues = issues;
  }
}

const MAX_ISSUES = 10;

/** @throws PoisonEventError */
export const parseUsageEvent = (body: string): UsageEvent => {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new PoisonEventError(['not JSON']);
  }
  const { success, data, error } = usageEventSchema.safeParse(
    typeof json === 'object' && json !== null ? withCurrentNames(json as Record<string, unknown>) : json,
  );
  if (success) return data;
  throw new PoisonEventError(
    error.issues.slice(0, MAX_ISSUES).map(({ path, code }) => `${path.map(String).join('.') || 'event'}: ${code}`),
  );
};
