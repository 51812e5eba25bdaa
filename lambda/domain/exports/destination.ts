import * as z from 'zod/mini';

/** What a destination gets: the manifest of each day that is exported, or each request, by the OpenTelemetry protocol. */
export const destinationTypes = ['manifests', 'otlp'] as const;

const instant = z.iso.datetime();

/** An address that follows an account's spend. */
export const destinationSchema = z.object({
  destinationId: z.string(),
  accountId: z.string(),
  name: z.string(),
  type: z.enum(destinationTypes),
  url: z.string(),
  /** Signs what is sent. */
  secret: z.string(),
  /** Sent with it: the receiver's credentials. */
  headers: z.record(z.string(), z.string()),
  isActive: z.boolean(),
  createdAt: instant,
  /** What was sent: up to an entry of the list of changes, or to requests that began before an instant. Null before the first. */
  cursor: z.nullable(z.string()),
  sentAt: z.nullable(instant),
  /** Failures since it last took something. */
  failures: z.int(),
  /** Why the last one was. */
  problem: z.nullable(z.string()),
});
export type Destination = z.infer<typeof destinationSchema>;

/** What a change may change, and what sending does. */
export type DestinationChanges = Partial<
  Pick<Destination, 'name' | 'url' | 'headers' | 'isActive' | 'cursor' | 'sentAt' | 'failures' | 'problem'>
>;
