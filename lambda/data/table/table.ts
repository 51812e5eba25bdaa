import { randomUUID } from 'node:crypto';
import type {
  BatchGetCommandInput,
  BatchGetCommandOutput,
  BatchWriteCommandInput,
  BatchWriteCommandOutput,
  DeleteCommandInput,
  DeleteCommandOutput,
  GetCommandInput,
  GetCommandOutput,
  PutCommandInput,
  PutCommandOutput,
  QueryCommandInput,
  QueryCommandOutput,
  ScanCommandInput,
  ScanCommandOutput,
  TransactWriteCommandInput,
  TransactWriteCommandOutput,
  UpdateCommandInput,
  UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import {
  type AwsCall,
  type AwsCredentialsSource,
  awsCaller,
  awsService,
  environmentCredentials,
} from '../../aws/aws-json.ts';
import { withRetries } from '../../aws/retries.ts';
import { nodeTransport } from '../../aws/transport-node.ts';
import { type AttributeValue, fromAttributes, toAttributes } from './attribute-values.ts';

/** Input and output of each operation, with plain JavaScript values for attributes: the types alone are the SDK's. */
interface Operations {
  GetItem: [GetCommandInput, GetCommandOutput];
  PutItem: [PutCommandInput, PutCommandOutput];
  UpdateItem: [UpdateCommandInput, UpdateCommandOutput];
  DeleteItem: [DeleteCommandInput, DeleteCommandOutput];
  Query: [QueryCommandInput, QueryCommandOutput];
  Scan: [ScanCommandInput, ScanCommandOutput];
  BatchGetItem: [BatchGetCommandInput, BatchGetCommandOutput];
  BatchWriteItem: [BatchWriteCommandInput, BatchWriteCommandOutput];
  TransactWriteItems: [TransactWriteCommandInput, TransactWriteCommandOutput];
}

type Operation = keyof Operations;

/** One call of an operation. */
export type TableCommand = {
  [Name in Operation]: { readonly operation: Name; readonly input: Operations[Name][0] };
}[Operation];

/** Calls an operation of DynamoDB. @throws AwsCallError (refused), Error (no response in time, or a value that no attribute can hold) */
export type TableCall = <Name extends Operation>(
  operation: Name,
  input: Operations[Name][0],
) => Promise<Omit<Operations[Name][1], '$metadata'>>;

/** The one table, as every repository uses it. */
export interface Table {
  readonly call: TableCall;
  readonly name: string;
}

type Values = Record<string, unknown>;

/** Members that hold attributes, in inputs and outputs. */
const ATTRIBUTES: ReadonlySet<string> = new Set([
  'Attributes',
  'ExclusiveStartKey',
  'ExpressionAttributeValues',
  'Item',
  'Key',
  'LastEvaluatedKey',
]);
/** Members that hold lists of them. */
const LISTS: ReadonlySet<string> = new Set(['Items', 'Keys']);

/** An input or output with its attributes replaced, wherever they are. */
const replaced = <T>(value: T, replace: (attributes: never) => Values): T => {
  if (Array.isArray(value)) return value.map((each) => replaced(each, replace)) as T;
  if (value === null || typeof value !== 'object') return value;
  const result: Values = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    if (ATTRIBUTES.has(name)) result[name] = replace(member as never);
    else if (LISTS.has(name)) result[name] = (member as never[]).map(replace);
    else if (name === 'Responses')
      result[name] = Object.fromEntries(
        Object.entries(member as Record<string, never[]>).map(([table, items]) => [table, items.map(replace)]),
      );
    else result[name] = replaced(member, replace);
  }
  return result as T;
};

/** The table responds in milliseconds: this leaves time to try again. */
const TIMEOUT_MS = 5_000;
/** A batch of items has up to 16 MB, in JSON up to twice that. */
const MAX_RESPONSE_BYTES = 2 ** 26;
const MAX_CONNECTIONS = 50;

/** The operations on top of signed calls. A repeated transaction is known by its token, so it is written once. */
export const tableCall = (call: AwsCall): TableCall => {
  const withAttempts = withRetries(call);
  return async (operation, input) => {
    const token = operation === 'TransactWriteItems' && { ClientRequestToken: randomUUID() };
    const output = await withAttempts(operation, { ...replaced(input, toAttributes), ...token }, TIMEOUT_MS);
    return replaced(output, fromAttributes as (attributes: Record<string, AttributeValue>) => Values) as never;
  };
};

/** Opens the table by name. */
export const openTable = (
  name: string,
  variables: Readonly<Record<string, string | undefined>> = process.env,
  credentials: AwsCredentialsSource = environmentCredentials(variables),
): Table => {
  const transport = (endpoint: string) =>
    nodeTransport(endpoint, { maxResponseBytes: MAX_RESPONSE_BYTES, maxConnections: MAX_CONNECTIONS });
  return { call: tableCall(awsCaller(awsService('dynamodb', variables), credentials, transport)), name };
};
