import { z } from 'zod';

const names = (problem: string) => z.array(z.string().regex(/^[a-z][a-z0-9-]{0,19}$/, problem));

/** What cdk.json may say of the delivery pipeline. Without `connectionArn` there is none. */
export const pipelineSettings = z.strictObject({
  account: z.string().regex(/^\d{12}$/, 'must be an AWS account id of 12 digits'),
  region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be an AWS region, such as eu-central-1'),
  /** Of CodeConnections: made and confirmed by hand, once. */
  connectionArn: z
    .string()
    .regex(/^arn:aws[a-z-]*:(codeconnections|codestar-connections):/, 'must be the ARN of a connection'),
  /** Where the sources are: `owner/name`. */
  repository: z.string().regex(/^[\w.-]+\/[\w.-]+$/, 'must be owner/name'),
  branch: z.string().min(1).default('main'),
  /** Deployed one after the other; every one after the first waits for an approval. */
  stages: names('must be names of stages').min(1, 'must name a stage').default(['staging', 'prod']),
  /** Names of secrets with `serviceKey`, `email` and `password` of the canary account, by stage. */
  canarySecrets: z.record(z.string(), z.string().min(1)).default({}),
});

export type PipelineSettings = z.infer<typeof pipelineSettings>;
