import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ACTIVE_RULE_SHARDS, ROLLUP_MARK_SHARDS } from '../../../lambda/data/table/keys.ts';
import { resourcesOf, stackNames, synthStage } from '../synth-stage.ts';

const oneOrMore = <T extends z.ZodType>(schema: T) =>
  z.union([z.array(schema), schema.transform((value) => [value] as z.output<T>[])]);

const statementSchema = z.object({
  Effect: z.string(),
  Action: oneOrMore(z.string()),
  Resource: oneOrMore(z.unknown()),
  Condition: z
    .object({
      'ForAllValues:StringLike': z.object({ 'dynamodb:LeadingKeys': z.array(z.string()) }).optional(),
      // "For all values" is true of none.
      Null: z.object({ 'dynamodb:LeadingKeys': z.literal('false') }).optional(),
      StringEquals: z.record(z.string(), z.string()).optional(),
    })
    .refine((condition) => (condition['ForAllValues:StringLike'] === undefined) === (condition.Null === undefined))
    .optional(),
});
const policySchema = z.object({
  PolicyDocument: z.object({ Statement: z.array(statementSchema) }),
  Roles: z.array(z.object({ Ref: z.string() })),
});

/** A resource as a word: `data:Table`, `ProxyLogs`. Logical ids end in eight hex digits of a hash. */
const wordFor = (resource: unknown): string => {
  const text = JSON.stringify(resource);
  const identity = /:(identity\/[^"]+)"/.exec(text)?.[1];
  if (identity !== undefined) return identity;
  const secrets = /:(secret:[^"]+)"/.exec(text)?.[1];
  if (secrets !== undefined) return secrets;
  const imported = /Fn::ImportValue":"[a-z-]+?-([a-z-]+):ExportsOutput(?:FnGetAtt|Ref)([A-Za-z0-9]+?)[0-9A-F]{8}/.exec(
    text,
  );
  const word = imported
    ? `${imported[1]?.replace(/^.*dev-/, '')}:${imported[2]}`
    : /"([A-Za-z]+?)[0-9A-F]{8}"/.exec(text)?.[1];
  const path = /"(\/[^"]*)"/.exec(text)?.[1] ?? '';
  return (word ?? text) + path;
};

/** An account id is a UUID: no pattern of it matches a partition whose name goes on after it. A key's hash has 43 characters. */
const ANY_ACCOUNT = '?'.repeat(36);
const ANY_KEY_HASH = '?'.repeat(43);

const stage = synthStage();
const permissions = Object.fromEntries(
  stackNames.flatMap((stack) => {
    const policies = Object.values(resourcesOf(stage(stack), 'AWS::IAM::Policy')).map(({ Properties }) =>
      policySchema.parse(Properties),
    );
    return Object.entries(resourcesOf(stage(stack), 'AWS::Lambda::Function')).map(([id, { Properties }]) => {
      const role = (Properties['Role'] as { 'Fn::GetAtt': [string, string] })['Fn::GetAtt'][0];
      const statements = policies
        .filter(({ Roles }) => Roles.some(({ Ref }) => Ref === role))
        .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
      return [
        `${stack}/${id.slice(0, -8)}`,
        statements.map(({ Action, Resource, Condition }) => {
          const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'];
          const values = keys ?? Object.values(Condition?.StringEquals ?? {});
          const where =
            values.length > 0
              ? ` WHERE ${values.join(' ').replaceAll(ANY_KEY_HASH, '{hash}').replaceAll(ANY_ACCOUNT, '{account}')}`
              : '';
          return `${Action.join(' ')} ON ${Resource.map(wordFor).join(' ')}${where}`;
        }),
      ] as const;
    });
  }),
);

const shards = (name: string, count = 8) => Array.from({ length: count }, (_, shard) => `${name}#${shard}`).join(' ');
const PARKED = Array.from({ length: 8 }, (_, shard) => `PARKED#${shard}`).join(' ');
const UNSEALED = Array.from({ length: ROLLUP_MARK_SHARDS }, (_, shard) => `UNSEALED#${shard}`).join(' ');
/** Request records of any day, and of any shard of a day. */
const REQUESTS = 'ACCOUNT#{account}#REQ#????-??-?? ACCOUNT#{account}#REQ#????-??-??#??';
const RECORD = [
  'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} BLOCKS#{account} DELETED#{account} PRICES',
  `dynamodb:BatchGetItem ON data:Table WHERE ACCOUNT#{account} ${REQUESTS} KEY#{hash}`,
];
/** What one transaction of the ledger writes. */
const LEDGER_WITHOUT_RESERVATIONS = `ACCOUNT#{account} ${REQUESTS} ACCOUNT#{account}#SPEND ACCOUNT#{account}#SESSIONS#????-??-??`;
const LEDGER = `${LEDGER_WITHOUT_RESERVATIONS} BLOCKS#{account}`;
/** Which accounts used which models on a day. */
const MODEL_USE = 'MODEL_USE#????-??-??#?';
/** Every partition that has items of one account alone. */
const OF_ACCOUNT = `ACCOUNT#{account} ${REQUESTS} ACCOUNT#{account}#SESSIONS#????-??-?? ACCOUNT#{account}#SPEND ACCOUNT#{account}#AUDIT BLOCKS#{account}`;
const MAIL = 'ses:SendEmail ON identity/* mail:ConfigurationSet WHERE alerts@dashboard.example.com';
const logsTo = (name: string) => `logs:CreateLogStream logs:PutLogEvents ON ${name}Logs`;

/** What shows spend, requests and sessions. */
const READ = `ACCOUNT#{account}#SPEND ACCOUNT#{account} ${REQUESTS} ACCOUNT#{account}#SESSIONS#????-??-??`;

describe('what each function may do', () => {
  it('is this and nothing else', () => {
    expect(permissions).toEqual({
      'account-jobs/AccountJobs': [
        logsTo('AccountJobs'),
        'dynamodb:Query ON data:Table/index/gsi1 WHERE ACCOUNT_JOBS STRIPE_CUSTOMERS',
        `dynamodb:Query ON data:Table WHERE ${OF_ACCOUNT} USER#* ${PARKED} REFUSED#????-??-?? ${MODEL_USE}`,
        `dynamodb:BatchWriteItem ON data:Table WHERE ${OF_ACCOUNT} USER#* ${PARKED} REFUSED#????-??-?? ${MODEL_USE} KEY#{hash} TOKEN#{hash} SIGN_ON#* STRIPE_CUSTOMER#* PRICED_ACCOUNTS`,
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} USER#* SIGN_ON#* PRICES',
        'dynamodb:BatchGetItem ON data:Table WHERE KEY#{hash}',
        'dynamodb:UpdateItem ON data:Table WHERE ACCOUNT#{account} KEY#{hash}',
        'dynamodb:PutItem ON data:Table WHERE ACCOUNT#{account} DELETED#{account}',
        'cognito-idp:AdminDeleteUser ON identity:Users',
        'secretsmanager:GetSecretValue ON billing:StripeApiKey',
        'secretsmanager:GetSecretValue secretsmanager:DeleteSecret ON secret:ai-spend-dev/bills/*',
        's3:GetObject s3:PutObject s3:AbortMultipartUpload ON data:Objects/archives/*',
        's3:GetObject ON data:Objects/requests/*',
        's3:DeleteObject ON data:Objects/archives/* data:Objects/exports/* data:Objects/requests/*',
        's3:ListBucket ON data:Objects',
      ],
      'alerts/RuleEvaluator': [
        logsTo('RuleEvaluator'),
        `dynamodb:Query ON data:Table/index/gsi1 WHERE ${shards('UNDELIVERED')}`,
        'dynamodb:GetItem dynamodb:UpdateItem ON data:Table WHERE EVALUATOR ACCOUNT#{account}',
        'dynamodb:Query ON data:Table WHERE ACCOUNT#{account}',
        'sqs:SendMessage ON EvaluationJobsQueue',
        MAIL,
      ],
      'alerts/RuleWorker': [
        logsTo('RuleWorker'),
        'sqs:ReceiveMessage sqs:ChangeMessageVisibility sqs:GetQueueUrl sqs:DeleteMessage sqs:GetQueueAttributes ON EvaluationJobsQueue',
        `dynamodb:Query ON data:Table/index/gsi1 WHERE ${shards('ACTIVE_RULES', ACTIVE_RULE_SHARDS)}`,
        'dynamodb:GetItem ON data:Table WHERE EVALUATOR ACCOUNT#{account} BLOCKS#{account} ACCOUNT#{account}#AUDIT',
        'dynamodb:UpdateItem ON data:Table WHERE EVALUATOR ACCOUNT#{account} BLOCKS#{account}',
        'dynamodb:Query ON data:Table WHERE ACCOUNT#{account}#SPEND ACCOUNT#{account}#SESSIONS#????-??-?? ACCOUNT#{account}',
        'dynamodb:BatchGetItem ON data:Table WHERE ACCOUNT#{account}',
        'dynamodb:PutItem ON data:Table WHERE ACCOUNT#{account} BLOCKS#{account} ACCOUNT#{account}#AUDIT',
        'dynamodb:ConditionCheckItem ON data:Table WHERE ACCOUNT#{account} BLOCKS#{account}',
        'sqs:SendMessage ON EvaluationJobsQueue',
        MAIL,
      ],
      'billing/Reconcile': [
        logsTo('Reconcile'),
        'dynamodb:Query ON data:Table/index/gsi1 WHERE STRIPE_CUSTOMERS',
        'dynamodb:BatchGetItem dynamodb:UpdateItem ON data:Table WHERE ACCOUNT#{account} KEY#{hash}',
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} ACCOUNT#{account}#AUDIT',
        'dynamodb:Query ON data:Table WHERE ACCOUNT#{account}',
        'dynamodb:PutItem ON data:Table WHERE ACCOUNT#{account}#AUDIT',
        'secretsmanager:GetSecretValue ON StripeApiKey',
      ],
      'dashboard-api/IdentityHandler': [
        logsTo('IdentityHandler'),
        'dynamodb:Query ON data:Table WHERE ACCOUNT#{account}',
        'dynamodb:BatchGetItem ON data:Table WHERE USER#* TOKEN#{hash}',
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} USER#* SIGN_ON#* TOKEN#{hash} ACCOUNT#{account}#AUDIT',
        'dynamodb:UpdateItem ON data:Table WHERE ACCOUNT#{account} USER#* SIGN_ON#* TOKEN#{hash} KEY#{hash} ACCOUNT#{account}#AUDIT RATE#*',
        'dynamodb:PutItem dynamodb:DeleteItem dynamodb:ConditionCheckItem ON data:Table WHERE ACCOUNT#{account} KEY#{hash} USER#* ACCOUNT#{account}#AUDIT SIGN_ON#* TOKEN#{hash}',
        MAIL,
        'cognito-idp:AdminCreateUser cognito-idp:AdminSetUserPassword cognito-idp:AdminInitiateAuth cognito-idp:AdminGetUser cognito-idp:AdminDeleteUser cognito-idp:AdminLinkProviderForUser cognito-idp:AdminUpdateUserAttributes cognito-idp:AdminUserGlobalSignOut cognito-idp:DescribeUserPoolClient cognito-idp:AdminRespondToAuthChallenge cognito-idp:AdminSetUserMFAPreference ON identity:Users',
      ],
      'dashboard-api/ReadingHandler': [
        logsTo('ReadingHandler'),
        `dynamodb:Query ON data:Table WHERE ${READ} ACCOUNT#{account}#AUDIT BLOCKS#{account}`,
        `dynamodb:BatchGetItem ON data:Table WHERE ${REQUESTS}`,
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} PRICES BLOCKS#{account} USER#*',
        's3:GetObject ON data:Objects/requests/*',
      ],
      'dashboard-api/MachineHandler': [
        logsTo('MachineHandler'),
        `dynamodb:Query ON data:Table WHERE ${READ}`,
        `dynamodb:BatchGetItem ON data:Table WHERE ${REQUESTS}`,
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} PRICES BLOCKS#{account} TOKEN#{hash}',
        'dynamodb:UpdateItem ON data:Table WHERE TOKEN#{hash}',
        's3:GetObject ON data:Objects/requests/* data:Objects/exports/*',
      ],
      'dashboard-api/SettingsHandler': [
        logsTo('SettingsHandler'),
        'dynamodb:Query ON data:Table WHERE ACCOUNT#{account} ACCOUNT#{account}#SPEND ACCOUNT#{account}#SESSIONS#????-??-?? ACCOUNT#{account}#REQ#????-??-?? ACCOUNT#{account}#REQ#????-??-??#??',
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} KEY#{hash} BLOCKS#{account} ACCOUNT#{account}#AUDIT PRICES USER#*',
        'dynamodb:PutItem dynamodb:DeleteItem ON data:Table WHERE ACCOUNT#{account} KEY#{hash} ACCOUNT#{account}#AUDIT BLOCKS#{account} PRICED_ACCOUNTS',
        'dynamodb:UpdateItem ON data:Table WHERE ACCOUNT#{account} KEY#{hash} ACCOUNT#{account}#AUDIT BLOCKS#{account} PRICED_ACCOUNTS RATE#*',
        'dynamodb:ConditionCheckItem ON data:Table WHERE ACCOUNT#{account} KEY#{hash} ACCOUNT#{account}#AUDIT BLOCKS#{account}',
        MAIL,
        's3:GetObject ON data:Objects/requests/*',
      ],
      'dashboard-api/FilesHandler': [
        logsTo('FilesHandler'),
        'dynamodb:Query ON data:Table WHERE ACCOUNT#{account} ACCOUNT#{account}#SPEND',
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} PRICES ACCOUNT#{account}#AUDIT USER#*',
        'dynamodb:PutItem dynamodb:DeleteItem ON data:Table WHERE ACCOUNT#{account} ACCOUNT#{account}#AUDIT',
        'dynamodb:UpdateItem ON data:Table WHERE RATE#*',
        's3:GetObject ON data:Objects/archives/* data:Objects/exports/*',
        'secretsmanager:CreateSecret secretsmanager:PutSecretValue secretsmanager:DeleteSecret ON secret:ai-spend-dev/bills/*',
      ],
      'dashboard-api/BillingHandler': [
        logsTo('BillingHandler'),
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} USER#*',
        'dynamodb:Query ON data:Table WHERE ACCOUNT#{account}#SPEND ACCOUNT#{account}',
        'dynamodb:UpdateItem dynamodb:PutItem ON data:Table WHERE ACCOUNT#{account} STRIPE_CUSTOMER#*',
        'secretsmanager:GetSecretValue ON billing:StripeApiKey',
      ],
      'dashboard-api/StripeWebhookHandler': [
        logsTo('StripeWebhookHandler'),
        'dynamodb:GetItem ON data:Table WHERE STRIPE_CUSTOMER#* STRIPE#* ACCOUNT#{account} ACCOUNT#{account}#AUDIT',
        'dynamodb:PutItem ON data:Table WHERE STRIPE#* ACCOUNT#{account}#AUDIT',
        'dynamodb:Query ON data:Table WHERE ACCOUNT#{account}',
        'dynamodb:BatchGetItem ON data:Table WHERE KEY#{hash}',
        'dynamodb:UpdateItem ON data:Table WHERE ACCOUNT#{account} KEY#{hash}',
        'secretsmanager:GetSecretValue ON billing:StripeApiKey',
        'secretsmanager:GetSecretValue ON billing:StripeWebhookSecrets',
      ],
      'gateway/ProxyFunction': [
        logsTo('ProxyFunction'),
        'dynamodb:GetItem ON data:Table WHERE BLOCKS#{account} KEY#{hash}',
        // What requests reserve from budgets.
        'dynamodb:UpdateItem dynamodb:BatchGetItem ON data:Table WHERE BLOCKS#{account}',
        `dynamodb:PutItem ON data:Table WHERE ${PARKED}`,
        'sqs:SendMessage ON usage:UsageEventsQueue',
        'secretsmanager:GetSecretValue ON FingerprintKey',
      ],
      'mail/Feedback': [logsTo('Feedback'), 'dynamodb:Query dynamodb:UpdateItem ON data:Table WHERE ACCOUNT#{account}'],
      'usage/Recorder': [
        logsTo('Recorder'),
        'sqs:ReceiveMessage sqs:ChangeMessageVisibility sqs:GetQueueUrl sqs:DeleteMessage sqs:GetQueueAttributes ON UsageEventsQueue',
        'sqs:SendMessage ON alerts:EvaluationJobsQueue',
        'sqs:SendMessage ON UsageEventsDeadLetters',
        ...RECORD,
        `dynamodb:Query ON data:Table WHERE ${REQUESTS} ACCOUNT#{account} ACCOUNT#{account}#SPEND`,
        `dynamodb:PutItem ON data:Table WHERE ${LEDGER}`,
        `dynamodb:UpdateItem ON data:Table WHERE ${LEDGER} ${MODEL_USE} PRICE_DRIFT#????-??-??`,
      ],
      'usage/PriceFeed': [
        logsTo('PriceFeed'),
        'dynamodb:GetItem dynamodb:PutItem ON data:Table WHERE PRICES',
        'dynamodb:Query ON data:Table WHERE PRICE_DRIFT#????-??-??',
      ],
      'usage/Repricing': [
        logsTo('Repricing'),
        's3:GetObject ON data:Objects/requests/*',
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} BLOCKS#{account} DELETED#{account} PRICES REPRICING',
        ...RECORD.slice(1),
        `dynamodb:Query ON data:Table WHERE ${REQUESTS} ACCOUNT#{account} ACCOUNT#{account}#SPEND PRICES ${MODEL_USE}`,
        `dynamodb:PutItem ON data:Table WHERE ${LEDGER} REPRICING`,
        `dynamodb:UpdateItem dynamodb:ConditionCheckItem ON data:Table WHERE ${LEDGER}`,
      ],
      'usage/OwnPrices': [
        logsTo('OwnPrices'),
        's3:GetObject ON data:Objects/requests/*',
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} BLOCKS#{account} PRICES',
        `dynamodb:BatchGetItem ON data:Table WHERE ACCOUNT#{account} ${REQUESTS} KEY#{hash}`,
        `dynamodb:Query ON data:Table WHERE ${REQUESTS} ACCOUNT#{account} PRICED_ACCOUNTS ACCOUNT#{account}#SPEND`,
        `dynamodb:PutItem dynamodb:UpdateItem dynamodb:ConditionCheckItem ON data:Table WHERE ${LEDGER}`,
      ],
      'exports/Exporter': [
        logsTo('Exporter'),
        `dynamodb:Query ON data:Table/index/gsi1 WHERE ${['EXPORTS', 'DAY_FILES'].flatMap((name) => Array.from({ length: ROLLUP_MARK_SHARDS }, (_, shard) => `${name}#${shard}`)).join(' ')}`,
        `dynamodb:Query ON data:Table WHERE ${REQUESTS} ACCOUNT#{account}#SPEND ACCOUNT#{account}`,
        'dynamodb:UpdateItem dynamodb:DeleteItem ON data:Table WHERE ACCOUNT#{account}#SPEND',
        `dynamodb:BatchWriteItem ON data:Table WHERE ${REQUESTS}`,
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account} DELETED#{account} ACCOUNT#{account}#AUDIT USER#*',
        's3:PutObject s3:PutObjectTagging s3:AbortMultipartUpload ON data:Objects/exports/*',
        's3:GetObject s3:PutObject s3:AbortMultipartUpload s3:DeleteObject ON data:Objects/requests/*',
        's3:ListBucket ON data:Objects',
      ],
      'usage/Rollup': [
        logsTo('Rollup'),
        `dynamodb:Query ON data:Table/index/gsi1 WHERE ${UNSEALED}`,
        'dynamodb:Query dynamodb:DeleteItem dynamodb:ConditionCheckItem ON data:Table WHERE ACCOUNT#{account}#SPEND',
        'dynamodb:PutItem dynamodb:UpdateItem ON data:Table WHERE ACCOUNT#{account}#SPEND ACCOUNT#{account}',
        'dynamodb:GetItem ON data:Table WHERE ACCOUNT#{account}',
      ],
      'usage/Sweep': [
        logsTo('Sweep'),
        'sqs:SendMessage ON alerts:EvaluationJobsQueue',
        ...RECORD,
        `dynamodb:Query ON data:Table WHERE ${REQUESTS} ACCOUNT#{account} ACCOUNT#{account}#SPEND ${PARKED}`,
        `dynamodb:PutItem ON data:Table WHERE ${LEDGER} REFUSED#????-??-??`,
        `dynamodb:UpdateItem ON data:Table WHERE ${LEDGER} ${MODEL_USE} PRICE_DRIFT#????-??-??`,
        `dynamodb:BatchWriteItem ON data:Table WHERE ${PARKED}`,
      ],
    });
  });

  // A transaction or batch names several partitions: see lib/constructs/table-access.ts.
  it('has each action on the table or an index in one statement', () => {
    for (const lines of Object.values(permissions)) {
      const actions = lines.flatMap((line) => {
        const [, names = '', on = ''] = /^(dynamodb:.*) ON (\S+)/.exec(line) ?? [];
        return names.split(' ').map((name) => `${name} ON ${on}`);
      });
      const onTable = actions.filter((action) => action.startsWith('dynamodb:'));
      expect(new Set(onTable).size).toBe(onTable.length);
    }
  });

  it('never has a wildcard for an action or a resource', () => {
    // The objects of one kind, the secrets that accounts save, and whom mail is for.
    const kinds = / WHERE .*| (data:Objects\/[a-z-]+|secret:ai-spend-dev\/bills|identity)\/\*(?= |$)/g;
    for (const line of Object.values(permissions).flat()) expect(line.replace(kinds, '')).not.toContain('*');
  });

  it('never comes from a managed policy', () => {
    for (const stack of stackNames) {
      for (const { Properties } of Object.values(resourcesOf(stage(stack), 'AWS::IAM::Role'))) {
        const isOfFunction = JSON.stringify(Properties['AssumeRolePolicyDocument']).includes('lambda.amazonaws.com');
        if (isOfFunction) expect(Properties).not.toHaveProperty('ManagedPolicyArns');
      }
    }
  });
});
