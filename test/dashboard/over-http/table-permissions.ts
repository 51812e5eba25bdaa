import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { type App, definitions } from '../../../local/host/template/definitions.ts';

/** One item operation of a request to the table, as IAM sees it. */
interface ItemOperation {
  /** `dynamodb:PutItem`; a transaction's operations have those of its members. */
  readonly action: string;
  /** Partition key in the table, or in the index. */
  readonly partition: string;
  readonly index: string | undefined;
}

/** A request to the table and the function that sent it. */
export interface TableRequest {
  readonly functionName: string;
  /** `TransactWriteItems` */
  readonly operation: string;
  readonly items: readonly ItemOperation[];
}

const text = z.object({ S: z.string() });
const key = z.looseObject({ pk: text });
const write = z.object({ Item: key }).or(z.object({ Key: key }));
const query = z.object({
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

const partitionOf = (item: z.infer<typeof write>): string => ('Item' in item ? item.Item : item.Key).pk.S;

const operation = (action: string, partition: string, index?: string): ItemOperation => ({
  action: `dynamodb:${action}`,
  partition,
  index,
});

/** The item operations of a request. @throws Error on an operation that no function sends so far */
const itemsOf = (name: string, body: unknown): ItemOperation[] => {
  switch (name) {
    case 'GetItem':
    case 'PutItem':
    case 'UpdateItem':
    case 'DeleteItem':
      return [operation(name, partitionOf(write.parse(body)))];
    case 'Query': {
      const { IndexName, KeyConditionExpression, ExpressionAttributeValues } = query.parse(body);
      const [, variable = ''] = /\b(?:gsi1)?pk = (:\w+)/.exec(KeyConditionExpression) ?? [];
      return [operation(name, text.parse(ExpressionAttributeValues[variable]).S, IndexName)];
    }
    case 'BatchGetItem':
      return Object.values(batchGet.parse(body).RequestItems).flatMap(({ Keys }) =>
        Keys.map(({ pk }) => operation(name, pk.S)),
      );
    case 'BatchWriteItem':
      return Object.values(batchWrite.parse(body).RequestItems)
        .flat()
        .flatMap(({ PutRequest, DeleteRequest }) => [PutRequest ?? [], DeleteRequest ?? []].flat())
        .map((item) => operation(name, partitionOf(item)));
    case 'TransactWriteItems':
      return transactWrite
        .parse(body)
        .TransactItems.flatMap((item) =>
          Object.entries(item).map(([action, of]) =>
            operation(action === 'ConditionCheck' ? 'ConditionCheckItem' : `${action}Item`, partitionOf(of)),
          ),
        );
    default:
      throw new Error(`Permissions of ${name} cannot be checked yet.`);
  }
};

/** A server in front of the table that passes every request on and reports it. */
export const watchTable = async (endpoint: string) => {
  const requests: TableRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const functionName = /Credential=([^/]+)\//.exec(incoming.headers.authorization ?? '')?.[1] ?? '';
    const name = String(incoming.headers['x-amz-target'] ?? '').replace(/^.*\./, '');
    const { method, url, headers } = incoming;
    const forwarded = request(new URL(url ?? '/', endpoint), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    forwarded.once('error', () => outgoing.destroy());
    forwarded.end(body);
    if (name !== '' && functionName !== 'local')
      requests.push({ functionName, operation: name, items: itemsOf(name, JSON.parse(body.toString())) });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: requests as readonly TableRequest[],
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const oneOrMore = z.union([z.array(z.string()), z.string().transform((value) => [value])]);
const statement = z.object({
  Effect: z.literal('Allow'),
  Action: oneOrMore,
  Resource: oneOrMore,
  Condition: z
    .object({ 'ForAllValues:StringLike': z.object({ 'dynamodb:LeadingKeys': oneOrMore }).optional() })
    .optional(),
});
const policy = z.object({
  PolicyDocument: z.object({ Statement: z.array(statement) }),
  Roles: z.array(z.string()),
});
const lambda = z.object({
  Role: z.string(),
  Environment: z.object({ Variables: z.record(z.string(), z.string()) }).optional(),
});

const isLike = (value: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '[^]*')
      .replaceAll('?', '[^]')}$`,
    'u',
  ).test(value);

/**
 * How IAM may judge `dynamodb:LeadingKeys` of a request with several items: AWS does not document it for transactions. Each reading
 * returns the keys that are judged together for an item operation.
 */
const readings: Readonly<Record<string, (of: ItemOperation, all: readonly ItemOperation[]) => readonly string[]>> = {
  'key by key': ({ partition }) => [partition],
  'all keys of the request': (_, all) => all.map(({ partition }) => partition),
};

/** Judges requests by the policies that the templates give to each function. */
export const tablePermissions = (app: App) => {
  const policies = definitions(app, policy, 'AWS::IAM::Policy').map(({ properties }) => properties);
  const functions = new Map(
    definitions(app, lambda, 'AWS::Lambda::Function').map(({ ref, properties }) => {
      const role = properties.Role.replace(/^.*:/, '');
      const statements = policies
        .filter(({ Roles }) => Roles.includes(role))
        .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
      return [ref, { table: properties.Environment?.Variables['TABLE_NAME'], statements }] as const;
    }),
  );

  /** What the function's policy would refuse, one line each. */
  return ({ functionName, operation, items }: TableRequest): string[] => {
    const { table, statements = [] } = functions.get(functionName) ?? {};
    return Object.entries(readings).flatMap(([reading, keysFor]) =>
      items
        .filter((item) => {
          const resource = `:table/${table}${item.index === undefined ? '' : `/index/${item.index}`}`;
          const keys = keysFor(item, items);
          return !statements.some(
            ({ Action, Resource, Condition }) =>
              Action.includes(item.action) &&
              Resource.some((arn) => arn.endsWith(resource)) &&
              keys.every((each) =>
                Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'].some((pattern) =>
                  isLike(each, pattern),
                ),
              ),
          );
        })
        .map(({ action, partition }) => `${functionName}: ${operation}, ${action} of ${partition} (${reading})`),
    );
  };
};
