import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RemovalPolicy } from 'aws-cdk-lib';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';
import { z } from 'zod';
import { DomainError } from '../lambda/domain/errors.ts';
import { isCommercialRegion, stageSettings } from './stage-settings.ts';

/**
 * The settings of a stage. This and delivery.ts are the only readers of the CDK context: nothing else in `lib` asks where it runs.
 * Every setting has a default, so that `npm run synth` works on a fresh clone; `missingForDeploy` says what a real
 * account still needs.
 */

/** As CDK has it. To load CDK for it would take half the time of every command that reads the settings. */
const DESTROY = 'destroy' as RemovalPolicy;

export const STAGE_NAME = /^[a-z][a-z0-9-]{0,19}$/;

export type StageSettings = Omit<z.infer<typeof stageSettings>, 'removalPolicy' | 'logRetentionDays'> & {
  readonly name: string;
  /** Whether the web dashboard is deployed: an account may not use CloudFront yet. */
  readonly hasPages: boolean;
  readonly retention: Retention;
};

/** Retention times, for every construct that makes resources that outlive it. */
export interface Retention {
  readonly logs: RetentionDays;
  /** Policy of what holds data: secrets, buckets, dead-letter queues, logs. */
  readonly data: RemovalPolicy;
  /** Policy of what is also protected against deletion: the table, the user pool. */
  readonly protectedData: RemovalPolicy;
}

/** The settings cannot be used. The message lists every mistake, one line each. */
export class InvalidSettings extends DomainError {}

/** Keys that begin with `//` are comments; empty strings, and objects of nothing else, are settings not filled in yet. */
export const withoutBlanks = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutBlanks);
  if (typeof value !== 'object' || value === null) return value;
  const given = Object.entries(value).flatMap(([key, member]) => {
    const filled = withoutBlanks(member);
    const isBlank = key.startsWith('//') || member === '' || (isEmpty(filled) && !isEmpty(member));
    return isBlank ? [] : [[key, filled] as const];
  });
  return Object.fromEntries(given);
};

const isEmpty = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;

/** The web dashboard at its own domain may call the API, and is where links lead. */
const ownPages = ({ web, corsOrigins, dashboardUrl }: Pick<StageSettings, 'web' | 'corsOrigins' | 'dashboardUrl'>) => {
  if (web === undefined) return {};
  const origin = `https://${web.name}`;
  return { corsOrigins: [...new Set([...corsOrigins, origin])], dashboardUrl: dashboardUrl ?? origin };
};

/** @throws InvalidSettings naming each mistake by its path in `cdk.json`. */
export const parseStageSettings = (name: string, input: unknown): StageSettings => {
  if (!STAGE_NAME.test(name)) {
    throw new InvalidSettings(`stage: must be 1 to 20 of a-z, 0-9 and "-", beginning with a letter, got "${name}"`);
  }
  const given = withoutBlanks(input ?? {}) as { readonly web?: unknown };
  const hasPages = given.web !== false;
  const parsed = stageSettings.safeParse(hasPages ? given : { ...given, web: undefined });
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${['stages', name, ...issue.path].join('.')}: ${issue.message}`);
    throw new InvalidSettings(lines.join('\n'));
  }
  const { removalPolicy, logRetentionDays, ...settings } = parsed.data;
  return {
    ...settings,
    hasPages,
    ...ownPages(settings),
    name,
    retention: {
      logs: logRetentionDays as RetentionDays,
      // An empty resource goes when a first deployment fails.
      data: removalPolicy === 'retain' ? ('retain-on-update-or-delete' as RemovalPolicy) : DESTROY,
      // Deletion protection would make CloudFormation fail to remove it, and the stack to stay half-way.
      protectedData: removalPolicy as RemovalPolicy,
    },
  };
};

export const stagesSchema = z.record(z.string(), z.unknown()).default({});
const cdkJson = z.object({ context: z.looseObject({ stages: stagesSchema }) });

/** The context of the app as cdk.json has it. @param folder the root of the repository */
export const readContext = (folder = '.') =>
  cdkJson.parse(JSON.parse(readFileSync(join(folder, 'cdk.json'), 'utf8'))).context;

/** The settings of one of the stages in cdk.json. @throws InvalidSettings */
export const settingsOf = (stage: string, stages: Readonly<Record<string, unknown>>): StageSettings => {
  if (!(stage in stages))
    throw new InvalidSettings(
      `stage: cdk.json has no stages.${stage}; it has ${Object.keys(stages).sort().join(', ') || 'none'}`,
    );
  return parseStageSettings(stage, stages[stage]);
};

/** Settings that a deployment needs and a synthesis does not: one line each with the setting and its purpose. */
export const missingForDeploy = (settings: StageSettings): readonly string[] => {
  const at = (key: string) => `stages.${settings.name}.${key}`;
  const isExample = (domain: string) => domain.endsWith('.example.com');
  return [
    settings.account === undefined && `${at('account')}: the AWS account id to deploy to`,
    settings.region === undefined && `${at('region')}: the AWS region to deploy to, such as eu-central-1`,
    settings.region !== undefined &&
      !isCommercialRegion(settings.region) &&
      `${at('region')}: the gateway needs Lambda response streaming, which AWS has announced for commercial regions alone, and ${settings.region} is none`,
    settings.customDomains &&
      isExample(settings.gatewayDomain) &&
      `${at('gatewayDomain')}: the domain under which the provider hosts live`,
    settings.customDomains &&
      isExample(settings.dashboardDomain) &&
      `${at('dashboardDomain')}: the domain of the dashboard API`,
    settings.registration === undefined &&
      `${at('registration')}: who may register: "open" (anybody), "invite" (whom members invite) or "closed" (nobody). npm run create-owner makes the first owner`,
    settings.customDomains &&
      settings.mailFrom === undefined &&
      `${at('mailFrom')}: the verified address that alerts are sent from`,
    settings.customDomains &&
      settings.alarmMail === undefined &&
      `${at('alarmMail')}: the mail address that receives alarms`,
  ].filter((line) => line !== false);
};

/** Consequences of these settings that one may not expect, a sentence or two each. */
export const remarksForDeploy = (settings: StageSettings): readonly string[] => {
  const { name, dashboardDomain, dashboardUrl, corsOrigins, retention, hasPages, registration, alarmMail } = settings;
  return [
    !settings.customDomains &&
      registration === 'open' &&
      `Anybody who knows the address of ${name} may register. Set stages.${name}.registration to closed once you have your account.`,
    !settings.customDomains && alarmMail === undefined && `Alarms reach nobody. Set stages.${name}.alarmMail.`,
    hasPages &&
      dashboardUrl === undefined &&
      `Links in mails and Stripe's return pages lead to https://${dashboardDomain}, which is the API and has no pages. Set stages.${name}.web, or put the address of the dashboard (an output of ai-spend-${name}-web) into dashboardUrl.`,
    hasPages &&
      corsOrigins.length === 0 &&
      `No web page may call the API. Set stages.${name}.web, or put the origin of the dashboard into corsOrigins.`,
    !settings.mail.cognito &&
      `Cognito sends password codes itself, at most 50 a day. Set stages.${name}.mail.cognito once the domain of mailFrom is verified in SES.`,
    retention.data === DESTROY && `removalPolicy is destroy: deleting a stack of ${name} deletes its data.`,
  ].filter((line) => line !== false);
};

const contextSchema = z.object({
  stage: z.string().default('dev'),
  stages: stagesSchema,
  /** Set by bin/deploy.ts, where the stage names none: those of the credentials. */
  account: z.string().optional(),
  region: z.string().optional(),
});

/**
 * The stage named by the context key `stage` (default `dev`), with the settings that `stages.{name}` holds in cdk.json.
 *
 * @throws InvalidSettings
 */
export const readStageSettings = (node: Node): StageSettings => {
  const { stage, stages, account, region } = contextSchema.parse(
    Object.fromEntries(Object.keys(contextSchema.shape).map((name) => [name, node.tryGetContext(name)])),
  );
  const parsed = settingsOf(stage, { dev: {}, ...stages });
  return { ...parsed, account: parsed.account ?? account, region: parsed.region ?? region };
};
