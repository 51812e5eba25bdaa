import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api';
import { z } from 'zod';
import { parseStageSettings } from '../../lib/config.ts';
import { SpendGatewayStage } from '../../lib/stage.ts';

export const stackNames = [
  'data',
  'identity',
  'usage',
  'gateway',
  'billing',
  'dashboard-api',
  'alerts',
  'monitoring',
] as const;
export type StackName = (typeof stackNames)[number];

/** What cdk.json tells the app. */
export const cdkContext = z
  .object({ context: z.record(z.string(), z.unknown()) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8'))).context;

/** The same, without CDK's own rules for templates, seconds for each app: findings.test.ts has them. */
export const contextWithoutRules = { ...cdkContext, '@aws-cdk/core:validateAgainstDefaultRules': false };

type Templates = (stack: StackName | 'web') => Template;

const synthesize = (settings: object): Templates => {
  const app = new App({ context: { ...cdkContext, [BUNDLING_STACKS]: [] }, analyticsReporting: false });
  const stage = new SpendGatewayStage(app, parseStageSettings('dev', settings));
  const templates = new Map<string, Template>();
  return (stack) => {
    const known = templates.get(stack);
    if (known) return known;
    const template = Template.fromStack(stage.node.findChild(stack) as Stack);
    templates.set(stack, template);
    return template;
  };
};

const stages = new Map<string, Templates>();

/**
 * The templates of a stage, made as `npm run synth` makes them, but for the bundling of the functions' code. Made once for all who
 * ask for the same settings, and read alone.
 */
export const synthStage = (settings: object = {}): Templates => {
  const key = JSON.stringify(settings);
  const stage = stages.get(key) ?? synthesize(settings);
  stages.set(key, stage);
  return stage;
};

const resourceSchema = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
});
export type Resource = z.infer<typeof resourceSchema>;

/** All resources of a type by logical id. */
export const resourcesOf = (template: Template, type: string): Record<string, Resource> =>
  z.record(z.string(), resourceSchema).parse(template.findResources(type));

/** The only resource of a type. */
export const onlyResource = (template: Template, type: string): Resource => {
  const found = Object.values(resourcesOf(template, type));
  if (found.length !== 1) throw new Error(`${found.length} resources of type ${type}, not one`);
  return found[0] as Resource;
};
