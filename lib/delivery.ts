import type { Node } from 'constructs';
import { z } from 'zod';
import { InvalidSettings, missingForDeploy, parseStageSettings, withoutBlanks } from './config.ts';
import type { DeploymentTarget } from './constructs/bootstrap-roles.ts';
import { type GithubSettings, githubSettings, type PipelineSettings, pipelineSettings } from './delivery-settings.ts';
import { usesCompute } from './stage-settings.ts';

/** Where a stage is delivered, and with the roles of which account. */
export interface DeliveredStage extends DeploymentTarget {
  readonly name: string;
}

export interface Delivery<S> {
  readonly settings: S;
  readonly stages: readonly DeliveredStage[];
}

const stagesSchema = z.record(z.string(), z.unknown()).default({});

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
