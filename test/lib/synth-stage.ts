import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api';
import { z } from 'zod';
import { parseStageSettings } from '../../lib/config.ts';
import { SpendGatewayStage } from '../../lib/stage.ts';

export const stackNames = [
  'alarm-topic',
  'data',
  'mail',
  'identity',
  'alerts',
  'usage',
  'gateway',
  'exports',
  'billing',
  'account-jobs',
  'dashboard-api',
  'monitoring',
] as const;
export type StackName = (typeof stackNames)[number];

/** The context in cdk.json. */
export const cdkContext = z
  .object({ context: z.record(z.string(), z.unknown()) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8'))).context;

/**
 * An app with the context of cdk.json that skips CDK's validation of templates, which takes seconds for each app.
 * findings.test.ts has the validation.
 */
export const appWithoutValidation = (context: Readonly<Record<string, unknown>> = {}): App =>
  new App({
    context: { ...cdkContext, ...context },
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
    stackTraces: false,
  });

type Templates = (stack: StackName | 'web') => Template;

const synthesize = (settings: object): Templates => {
  const app = appWithoutValidation({ [BUNDLING_STACKS]: [] });
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

/** The templates of a stage as `npm run synth` makes them, without the functions' code. Cached by settings; read-only. */
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
  DependsOn: z.array(z.string()).optional(),
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
