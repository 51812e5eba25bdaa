import * as z from 'zod/mini';

/** An account whose rules are judged at once, because its spend changed. */
export const accountJobSchema = z.object({
  accountId: z.string().check(z.minLength(1)),
  /** Its spend changed until then, ISO 8601 UTC. */
  since: z.iso.datetime(),
  /** When the oldest of the requests that changed it began: how late judging is. */
  oldest: z.optional(z.iso.datetime()),
});

export type AccountJob = z.infer<typeof accountJobSchema>;
