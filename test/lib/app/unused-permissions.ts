import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { z } from 'zod';
import { dashboardFunctions } from '../../../lib/stacks/dashboard-functions.ts';
import { resourcesOf, type StackName, synthStage } from '../synth-stage.ts';

const ROOT = join(import.meta.dirname, '../../..');

const filesByEntry = async (entryPoints: readonly string[]): Promise<Map<string | undefined, string[]>> => {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [...entryPoints],
    outdir: 'nowhere',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    // Loaded lazily: see lib/constructs/function-bundle.ts.
    alias: {
      '#reserve': './lambda/gateway/relay/reserve.ts',
      '#mail-sender': './lambda/integrations/mail-sender.ts',
      '#object-store': './lambda/integrations/object-store.ts',
    },
    external: ['#bundled-lists', '#mcp-sdk', '#openapi', '#password-guesser'],
  });
  return new Map(
    Object.values(metafile.outputs).map(({ entryPoint, inputs }) => [entryPoint, Object.keys(inputs)] as const),
  );
};

/** How code says that it uses an action. A transaction's actions are its members'; what the event source does is Lambda's. */
const signs: Record<string, RegExp> = {
  'dynamodb:GetItem': /'GetItem'/,
  'dynamodb:BatchGetItem': /'BatchGetItem'/,
  'dynamodb:Query': /'Query'/,
  'dynamodb:PutItem': /\bPut: \{|'PutItem'/,
  'dynamodb:UpdateItem': /\bUpdate: \{|'UpdateItem'/,
  'dynamodb:DeleteItem': /'DeleteItem'|\bDelete: \{/,
  'dynamodb:ConditionCheckItem': /\bConditionCheck: \{/,
  'dynamodb:BatchWriteItem': /'BatchWriteItem'/,
  's3:ListBucket': /new ListObjectsV2Command\(/,
  's3:PutObjectTagging': /\bTagging:/,
  's3:DeleteObject': /new DeleteObjectsCommand\(/,
  'sqs:SendMessage': /'SendMessage(Batch)?'|new SendMessage(Batch)?Command\(/,
  'secretsmanager:GetSecretValue': /'GetSecretValue'|new GetSecretValueCommand\(/,
};
const EVENT_SOURCE = /^sqs:(ReceiveMessage|ChangeMessageVisibility|GetQueueUrl|DeleteMessage|GetQueueAttributes)$/;
const signOf = (action: string) => signs[action] ?? new RegExp(`new ${action.split(':')[1]}Command\\(`);

const entries: readonly (readonly [StackName, string, string])[] = [
  ['billing', 'Reconcile', 'lambda/dashboard/stripe-webhook/reconcile/handler.ts'],
  ['account-jobs', 'AccountJobs', 'lambda/account-jobs/handler.ts'],
  ['alerts', 'RuleEvaluator', 'lambda/rule-evaluator/handler.ts'],
  ['alerts', 'RuleWorker', 'lambda/rule-evaluator/worker/handler.ts'],
  ['mail', 'Feedback', 'lambda/mail-feedback/handler.ts'],
  ['gateway', 'ProxyFunction', 'lambda/gateway/hosts/handler.ts'],
  ['usage', 'Recorder', 'lambda/usage-recorder/handler.ts'],
  ['usage', 'OwnPrices', 'lambda/usage-recorder/own-prices/handler.ts'],
  ['usage', 'PriceFeed', 'lambda/price-feed/handler.ts'],
  ['usage', 'Repricing', 'lambda/usage-recorder/repricing/handler.ts'],
  ['exports', 'Exporter', 'lambda/exporter/handler.ts'],
  ['usage', 'Rollup', 'lambda/usage-recorder/rollup/handler.ts'],
  ['usage', 'Sweep', 'lambda/usage-recorder/sweep/handler.ts'],
  ...Object.keys(dashboardFunctions).map((name) => {
    const id = name.replace(/(^|-)(.)/g, (_, __, letter: string) => letter.toUpperCase());
    return ['dashboard-api', `${id}Handler`, `lambda/dashboard/functions/${name}.ts`] as const;
  }),
];

const policySchema = z.object({
  PolicyDocument: z.object({ Statement: z.array(z.object({ Action: z.union([z.string(), z.array(z.string())]) })) }),
  PolicyName: z.string(),
});

const stage = synthStage();
const actionsOf = (stack: StackName, id: string): string[] =>
  Object.values(resourcesOf(stage(stack), 'AWS::IAM::Policy'))
    .map(({ Properties }) => policySchema.parse(Properties))
    .filter(({ PolicyName }) => PolicyName.startsWith(`${id}Role`))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement.flatMap(({ Action }) => Action))
    .filter((action) => !action.startsWith('logs:') && !EVENT_SOURCE.test(action));

describe('no function may do what its code does not do', () => {
  const bundled = filesByEntry(entries.map(([, , entry]) => entry));
  /** Our own code that ends up in a function's bundle. */
  const sourceOf = async (entry: string): Promise<string> => {
    const files = (await bundled).get(entry) ?? [];
    return files.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');
  };

  it.each(entries)('%s/%s', async (stack, id, entry) => {
    const source = await sourceOf(entry);
    const unused = actionsOf(stack, id).filter((action) => !signOf(action).test(source));
    expect(unused).toEqual([]);
  });

  it('knows every function', () => {
    const names = (
      ['account-jobs', 'alerts', 'billing', 'gateway', 'usage', 'exports', 'dashboard-api', 'mail'] as const
    ).flatMap((stack) =>
      Object.keys(resourcesOf(stage(stack), 'AWS::Lambda::Function')).map((id) => `${stack}/${id.slice(0, -8)}`),
    );
    expect(entries.map(([stack, id]) => `${stack}/${id}`).sort()).toEqual(names.sort());
    const mayDoNothing = entries.filter(([stack, id]) => actionsOf(stack, id).length === 0).map(([, id]) => id);
    expect(mayDoNothing).toEqual([]);
  });
});
