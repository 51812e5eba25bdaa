import type { Node } from 'constructs';
import { z } from 'zod';
import {
  InvalidSettings,
  missingForDeploy,
  parseStageSettings,
  STAGE_NAME,
  stagesSchema,
  withoutBlanks,
} from './config.ts';
import type { DeploymentTarget } from './constructs/bootstrap-roles.ts';
import { accountNumber, regionName, usesCompute } from './stage-settings.ts';

/** Settings of cdk.json for delivery: by a pipeline in AWS, or from GitHub. */

const stageNames = z
  .array(z.string().regex(STAGE_NAME, 'must be names of stages'))
  .min(1, 'must name a stage')
  .default(['staging', 'prod']);

/** `owner/name` */
const repository = z
  .string('where the sources are: owner/name')
  .regex(/^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/, 'must be owner/name');

const pipelineSettings = z.strictObject({
  account: accountNumber('the AWS account that the pipeline runs in, 12 digits'),
  region: regionName('the AWS region that the pipeline runs in, such as eu-central-1'),
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

const githubSettings = z.strictObject({
  repository,
  /** Each is also an environment of the repository. */
  stages: stageNames,
  /** Accounts that trust GitHub already: one account has one such provider. */
  accountsWithProvider: z.array(accountNumber()).default([]),
});

export type PipelineSettings = z.infer<typeof pipelineSettings>;
export type GithubSettings = z.infer<typeof githubSettings>;

/** Where a stage is delivered, and with the roles of which account. */
export interface DeliveredStage extends DeploymentTarget {
  readonly name: string;
}

export interface Delivery<S> {
  readonly settings: S;
  readonly stages: readonly DeliveredStage[];
}

const deliveredStage = (node: Node, key: string, name: string): DeliveredStage => {
  const stages = stagesSchema.parse(node.tryGetContext('stages'));
  if (!(name in stages)) throw new InvalidSettings(`${key}.stages: cdk.json has no stages.${name}`);
  const settings = parseStageSettings(name, stages[name]);
  const missing = missingForDeploy(settings);
  const { account, region } = settings;
  if (missing.length > 0 || account === undefined || region === undefined)
    throw new InvalidSettings([`Fill in cdk.json before deploying ${name}:`, ...missing].join('\n'));
  return { name, account, region, publishesImage: usesCompute(settings.gateway, 'containers') };
};

const readDelivery = <S extends { readonly stages: readonly string[] }>(
  node: Node,
  key: string,
  schema: z.ZodType<S>,
): Delivery<S> => {
  const parsed = schema.safeParse(withoutBlanks(node.tryGetContext(key) ?? {}));
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${[key, ...issue.path].join('.')}: ${issue.message}`);
    throw new InvalidSettings([`Fill in cdk.json before deploying this:`, ...lines].join('\n'));
  }
  return { settings: parsed.data, stages: parsed.data.stages.map((name) => deliveredStage(node, key, name)) };
};

/** The pipeline as `pipeline` in cdk.json has it. @throws InvalidSettings */
export const readPipeline = (node: Node): Delivery<PipelineSettings> =>
  readDelivery(node, 'pipeline', pipelineSettings);

/** The trust in GitHub that `github` in cdk.json describes. @throws InvalidSettings */
export const readGithub = (node: Node): Delivery<GithubSettings> => readDelivery(node, 'github', githubSettings);

const whatSchema = z.enum(['pipeline', 'github']).optional();

/** The value of `app` in the context; undefined for a stage. @throws InvalidSettings */
export const deliveryAsked = (node: Node): z.infer<typeof whatSchema> => {
  const { success, data } = whatSchema.safeParse(node.tryGetContext('app'));
  if (!success) throw new InvalidSettings('app: must be pipeline or github, or left out');
  return data;
};
