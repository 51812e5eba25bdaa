import * as z from 'zod/mini';
import type { QueueRecorderEnvironment, RecorderEnvironment, RepricingEnvironment } from '../environment.ts';

const text = z.string().check(z.minLength(1));

const members = { TABLE_NAME: text, POWERTOOLS_METRICS_NAMESPACE: text };
const schema: z.ZodMiniType<RecorderEnvironment> = z.object(members);
const queueSchema: z.ZodMiniType<QueueRecorderEnvironment> = z.object({
  ...members,
  JOB_QUEUE_URL: text,
  DEAD_LETTER_QUEUE_URL: text,
});
const repricingSchema: z.ZodMiniType<RepricingEnvironment> = z.object({ ...members, OBJECT_BUCKET: text });

type Variables = Readonly<Record<string, string | undefined>>;

/** @throws $ZodError with the names of missing variables */
export const parseRecorderEnvironment = (variables: Variables) => ({ tableName: schema.parse(variables).TABLE_NAME });

/** The same for the recorder that the queue calls. */
export const parseQueueRecorderEnvironment = (variables: Variables) => {
  const { TABLE_NAME, JOB_QUEUE_URL, DEAD_LETTER_QUEUE_URL } = queueSchema.parse(variables);
  return { tableName: TABLE_NAME, jobQueueUrl: JOB_QUEUE_URL, deadLetterQueueUrl: DEAD_LETTER_QUEUE_URL };
};

/** The same for functions that price old requests again. */
export const parseRepricingEnvironment = (variables: Variables) => {
  const { TABLE_NAME, OBJECT_BUCKET } = repricingSchema.parse(variables);
  return { tableName: TABLE_NAME, objectBucket: OBJECT_BUCKET };
};
