import * as z from 'zod/mini';

/** A destination gets the manifest of each exported day, or each request by the OpenTelemetry protocol. */
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
  /** The last that was sent: an entry of the list of changes, or requests that began before an instant. Null before the first. */
  cursor: z.nullable(z.string()),
  sentAt: z.nullable(instant),
  /** Failures since it last took something. */
  failures: z.int(),
  /** Why the last one was. */
  problem: z.nullable(z.string()),
});
export type Destination = z.infer<typeof destinationSchema>;

/** The members that a change may change, and those that sending changes. */
export type DestinationChanges = Partial<
  Pick<Destination, 'name' | 'url' | 'secret' | 'headers' | 'isActive' | 'cursor' | 'sentAt' | 'failures' | 'problem'>
>;
