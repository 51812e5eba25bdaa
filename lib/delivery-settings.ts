import { z } from 'zod';

/** Settings of cdk.json for delivery: by a pipeline in AWS, or from GitHub. */

const stageNames = z
  .array(z.string().regex(/^[a-z][a-z0-9-]{0,19}$/, 'must be names of stages'))
  .min(1, 'must name a stage')
  .default(['staging', 'prod']);

/** `owner/name` */
const repository = z
  .string('where the sources are: owner/name')
  .regex(/^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/, 'must be owner/name');

export const pipelineSettings = z.strictObject({
  account: z
    .string('the AWS account that the pipeline runs in, 12 digits')
    .regex(/^\d{12}$/, 'must be an AWS account id of 12 digits'),
  region: z
    .string('the AWS region that the pipeline runs in, such as eu-central-1')
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be an AWS region, such as eu-central-1'),
  /** A connection of CodeConnections is made and confirmed by hand, once. */
  connectionArn: z
    .string('the ARN of a connection to the sources (CodeConnections), made and confirmed by hand')
    .regex(/^arn:aws[a-z-]*:(codeconnections|codestar-connections):/, 'must be the ARN of a connection'),
  repository,
  branch: z.string().min(1).default('main'),
  /** Deployed one after the other; every one after the first waits for an approval. */
  stages: stageNames,
  /** Names of secrets in the pipeline's account with `serviceKey`, `email` and `password` of the canary account, by stage. */
  canarySecrets: z.record(z.string(), z.string().min(1)).default({}),
});

export const githubSettings = z.strictObject({
  repository,
  /** Each is also an environment of the repository. */
  stages: stageNames,
  /** Accounts that trust GitHub already: one account has one such provider. */
  accountsWithProvider: z.array(z.string().regex(/^\d{12}$/, 'must be AWS account ids of 12 digits')).default([]),
});

export type PipelineSettings = z.infer<typeof pipelineSettings>;
export type GithubSettings = z.infer<typeof githubSettings>;
