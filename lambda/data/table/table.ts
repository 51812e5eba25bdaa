import { hash } from 'node:crypto';
import { DynamoDBClient, type DynamoDBClientConfig, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';

const commands = {
  GetItem: GetCommand,
  PutItem: PutCommand,
  UpdateItem: UpdateCommand,
  DeleteItem: DeleteCommand,
  Query: QueryCommand,
  Scan: ScanCommand,
  BatchGetItem: BatchGetCommand,
  BatchWriteItem: BatchWriteCommand,
  TransactWriteItems: TransactWriteCommand,
};

type Commands = typeof commands;
type Operation = keyof Commands;
type Input<Name extends Operation> = ConstructorParameters<Commands[Name]>[0];
type Handler<Name extends Operation> = ReturnType<InstanceType<Commands[Name]>['resolveMiddleware']>;
type Output<Name extends Operation> = Omit<Awaited<ReturnType<Handler<Name>>>['output'], '$metadata'>;

export type TableCommand = {
  [Name in Operation]: { readonly operation: Name; readonly input: Input<Name> };
}[Operation];

/**
 * Calls an operation of DynamoDB, with plain JavaScript values for attributes. Numbers past 2^53 are read as bigint, bytes as Uint8Array.
 * @throws DynamoDBServiceException (refused), Error (no response in time, or a value that no attribute can hold)
 */
export type TableCall = <Name extends Operation>(operation: Name, input: Input<Name>) => Promise<Output<Name>>;

/** The one table, as every repository uses it. */
export interface Table {
  readonly call: TableCall;
  readonly name: string;
}

/** The table responds in milliseconds: this leaves time to try again. Without these, the SDK waits for minutes. */
const requestHandler = {
  connectionTimeout: 1_000,
  requestTimeout: 5_000,
  socketTimeout: 5_000,
  throwOnRequestTimeout: true,
};

/**
 * Opens the table by name. Region, endpoint and credentials come from the environment, unless they are given. The SDK tries again where
 * AWS throttles, fails or does not respond, so single writes may run twice; a transaction has a token and is written once.
 */
export const openTable = (name: string, config: DynamoDBClientConfig = {}): Table => {
  const dynamoDb = new DynamoDBClient({ maxAttempts: 3, requestHandler, ...config });
  // Even where no logger is set, it copies the input and output of every call.
  dynamoDb.middlewareStack.remove('loggerMiddleware');
  // A transaction has the item of a single write, for milliseconds. The SDK does not try that again by itself.
  dynamoDb.middlewareStack.add(
    (next) => (args) =>
      next(args).catch((error: unknown) => {
        throw error instanceof TransactionConflictException ? Object.assign(error, { $retryable: {} }) : error;
      }),
    { step: 'finalizeRequest', priority: 'low' },
  );
  const client = DynamoDBDocumentClient.from(dynamoDb, { marshallOptions: { removeUndefinedValues: true } });
  const call = (operation: Operation, input: object) => client.send(new commands[operation](input as never) as never);
  return { call: call as TableCall, name };
};

/** The shard of an account's items: always the same, with accounts spread evenly. */
export const shardOf = (accountId: string, shards: number): number =>
  hash('sha256', accountId, 'buffer').readUInt32BE() % shards;
