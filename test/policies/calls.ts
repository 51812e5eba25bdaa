import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { LOCAL_REGION } from '../../local/emulators/cognito.ts';
import { LOCAL_ACCOUNT } from '../../local/host/template/names.ts';

/** One question that IAM answers for a call. */
export interface Decision {
  /** `dynamodb:PutItem` */
  readonly action: string;
  /** ARN */
  readonly resource: string;
  /** The request's condition keys, each with its values. */
  readonly context: Readonly<Record<string, readonly string[]>>;
}

/** A signed call of an AWS service. It succeeds if every decision is to allow. */
export interface Call {
  /** The access key id, which is the name of a function. */
  readonly caller: string;
  /** `TransactWriteItems` */
  readonly operation: string;
  readonly decisions: readonly Decision[];
}

interface AwsRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const arn = (service: string, rest: string): string => `arn:aws:${service}:${LOCAL_REGION}:${LOCAL_ACCOUNT}:${rest}`;

const key = z.looseObject({ pk: z.object({ S: z.string() }) }).transform(({ pk }) => pk.S);
const write = z
  .object({ TableName: z.string().default(''), Item: key.optional(), Key: key.optional() })
  .transform(({ TableName, Item, Key }) => ({ table: TableName, partition: Item ?? Key ?? '' }));
const query = z.object({
  TableName: z.string(),
  IndexName: z.string().optional(),
  KeyConditionExpression: z.string(),
  ExpressionAttributeValues: z.record(z.string(), z.unknown()),
});
const batchGet = z.object({ RequestItems: z.record(z.string(), z.object({ Keys: z.array(key) })) });
const batchWrite = z.object({
  RequestItems: z.record(
    z.string(),
    z.array(z.object({ PutRequest: write.optional(), DeleteRequest: write.optional() })),
  ),
});
const transactWrite = z.object({
  TransactItems: z.array(z.partialRecord(z.enum(['Put', 'Update', 'Delete', 'ConditionCheck']), write)),
});

interface ItemOperation {
  readonly action: string;
  readonly table: string;
  /** Of the table, or of the index. */
  readonly partition: string;
}

/** The item operations of a request to the table. A transaction's have the actions of its members. @throws Error on an operation that no function sends so far */
const itemsOf = (operation: string, body: unknown): ItemOperation[] => {
  switch (operation) {
    case 'GetItem':
    case 'PutItem':
    case 'UpdateItem':
    case 'DeleteItem':
      return [{ action: operation, ...write.parse(body) }];
    case 'Query': {
      const { TableName, IndexName, KeyConditionExpression, ExpressionAttributeValues } = query.parse(body);
      const [, variable = ''] = /\b(?:gsi1)?pk = (:\w+)/.exec(KeyConditionExpression) ?? [];
      const table = IndexName === undefined ? TableName : `${TableName}/index/${IndexName}`;
      const { S: partition } = z.object({ S: z.string() }).parse(ExpressionAttributeValues[variable]);
      return [{ action: operation, table, partition }];
    }
    case 'BatchGetItem':
      return Object.entries(batchGet.parse(body).RequestItems).flatMap(([table, { Keys }]) =>
        Keys.map((partition) => ({ action: operation, table, partition })),
      );
    case 'BatchWriteItem':
      return Object.entries(batchWrite.parse(body).RequestItems).flatMap(([table, requests]) =>
        requests
          .flatMap(({ PutRequest, DeleteRequest }) => [PutRequest ?? [], DeleteRequest ?? []].flat())
          .map(({ partition }) => ({ action: operation, table, partition })),
      );
    case 'TransactWriteItems':
      return transactWrite.parse(body).TransactItems.flatMap((member) =>
        Object.entries(member).map(([name, item]) => ({
          action: name === 'ConditionCheck' ? 'ConditionCheckItem' : `${name}Item`,
          ...item,
        })),
      );
    default:
      throw new Error(`Permissions of ${operation} cannot be judged yet.`);
  }
};

/** AWS does not document which keys of a transaction `dynamodb:LeadingKeys` has: each item's own, or those of all. Both must pass. */
const ofTable = (operation: string, body: unknown): Decision[] => {
  const items = itemsOf(operation, body);
  const all = [...new Set(items.map(({ partition }) => partition))];
  return items.flatMap(({ action, table, partition }) =>
    (all.length === 1 ? [all] : [[partition], all]).map((keys) => ({
      action: `dynamodb:${action}`,
      resource: arn('dynamodb', `table/${table}`),
      context: { 'dynamodb:LeadingKeys': keys },
    })),
  );
};

const ofObjects = ({ method, url, headers, body }: AwsRequest): Decision[] => {
  const [, bucket = '', object = ''] = /^\/([^/]+)\/?(.*)$/.exec(decodeURIComponent(url.pathname)) ?? [];
  const at = (path: string, ...actions: readonly string[]): Decision[] =>
    actions.map((action) => ({ action: `s3:${action}`, resource: `arn:aws:s3:::${bucket}${path}`, context: {} }));
  if (object === '' && method === 'POST' && url.searchParams.has('delete'))
    return [...body.matchAll(/<Key>([^<]+)<\/Key>/g)].flatMap(([, name]) => at(`/${name}`, 'DeleteObject'));
  if (object === '' && method === 'GET') return at('', 'ListBucket');
  const tags = headers['x-amz-tagging'] === undefined ? [] : ['PutObjectTagging'];
  const actions: Readonly<Record<string, readonly string[]>> = {
    GET: ['GetObject'],
    HEAD: ['GetObject'],
    // Parts of an upload, too.
    PUT: ['PutObject', ...tags],
    POST: ['PutObject', ...tags],
    DELETE: [url.searchParams.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject'],
  };
  return at(`/${object}`, ...(actions[method] ?? [method]));
};

/** SES knows the sender by its address or by its domain, whichever was verified. In its sandbox it also asks about who gets the mail. */
const ofMail = (form: URLSearchParams): Decision[] => {
  const from = form.get('Source')?.replace(/^.*<|>$/g, '') ?? '';
  const to = [...form].flatMap(([name, address]) => (name.startsWith('Destination.') ? [address] : []));
  const identities = [from, from.replace(/^.*@/, ''), ...to].map((name) => `identity/${name}`);
  return [...identities, `configuration-set/${form.get('ConfigurationSetName')}`].map((resource) => ({
    action: `ses:${form.get('Action')}`,
    resource: arn('ses', resource),
    context: { 'ses:FromAddress': [from] },
  }));
};

const named = z.object({
  QueueUrl: z.string().optional(),
  UserPoolId: z.string().optional(),
  SecretId: z.string().optional(),
  Name: z.string().optional(),
});

/** Where the resource of the other services is, and how IAM names actions on it. */
const ofOthers = (service: string, operation: string, body: unknown): Decision[] => {
  const { QueueUrl = '', UserPoolId, SecretId, Name } = named.parse(body);
  const secret = SecretId ?? Name ?? '';
  const resources: Readonly<Record<string, string>> = {
    sqs: arn('sqs', QueueUrl.replace(/^.*\//, '')),
    'cognito-idp': arn('cognito-idp', `userpool/${UserPoolId}`),
    // Secrets Manager puts six characters after a name.
    secretsmanager: secret.startsWith('arn:') ? secret : arn('secretsmanager', `secret:${secret}-abcdef`),
  };
  const action = `${service}:${operation.replace(/^SendMessageBatch$/, 'SendMessage')}`;
  return [{ action, resource: resources[service] ?? '', context: {} }];
};

/** What IAM decides for a request; undefined for one that is not signed, or by no function. */
export const callOf = (request: AwsRequest): Call | undefined => {
  const { url, headers, body } = request;
  const credential =
    /Credential=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? url.searchParams.get('X-Amz-Credential');
  if (credential == null) return undefined;
  const [caller = '', , , service = ''] = credential.split('/');
  // The stack's own calls and those of tests; and Cognito's, which sends mail itself.
  if (caller === 'local' || caller === 'cognito') return undefined;
  if (service === 's3') return { caller, operation: request.method, decisions: ofObjects(request) };
  if (service === 'ses') return { caller, operation: 'SendEmail', decisions: ofMail(new URLSearchParams(body)) };
  const operation = String(headers['x-amz-target']).replace(/^.*\./, '');
  const judge = service === 'dynamodb' ? ofTable : ofOthers.bind(undefined, service);
  return { caller, operation, decisions: judge(operation, JSON.parse(body)) };
};
