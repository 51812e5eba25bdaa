import * as z from 'zod/mini';
import { accountJobSchema } from '../domain/limits/account-job.ts';
import type { SendMessage } from '../integrations/queue-sender.ts';

const shardToJudge = z.object({
  shard: z.int().check(z.minimum(0)),
  /** When all its rules were judged before, ISO 8601 UTC. */
  judgedUntil: z.iso.datetime(),
  /** The account that another worker judged last in this round; null where it begins. */
  after: z.nullable(z.string()),
  /** How many rules were judged in this round so far. */
  rules: z.int().check(z.minimum(0)),
  /** False where rules of an account before `after` could not be judged. */
  isWhole: z.boolean(),
});

const shardsJob = z.object({
  /** When the round was due, ISO 8601 UTC. It says which round the job belongs to. */
  due: z.iso.datetime(),
  shards: z.array(shardToJudge),
});

export type ShardToJudge = z.infer<typeof shardToJudge>;

/** Shards whose rules one worker judges. */
export type Job = z.infer<typeof shardsJob>;

export const jobSchema = z.union([shardsJob, accountJobSchema]);

export type SendJob = SendMessage<Job>;
