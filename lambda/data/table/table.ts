import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The one table, as every repository takes it. */
export interface Table {
  readonly client: DynamoDBDocumentClient;
  readonly name: string;
}

/**
 * A client that takes and gives plain values. The SDK's logger is taken out: for a logger that nobody has set, it copies the input
 * and output of every call, which for a page of a query or a full transaction takes longer than signing it.
 */
export const documentClient = (dynamoDb: DynamoDBClient): DynamoDBDocumentClient => {
  dynamoDb.middlewareStack.remove('loggerMiddleware');
  return DynamoDBDocumentClient.from(dynamoDb, { marshallOptions: { removeUndefinedValues: true } });
};

/**
 * Opens the table by name; region, endpoint and credentials come from the environment, as everywhere in the SDK.
 * The SDK waits for ever unless told otherwise: the table answers in milliseconds, so one that does not is tried again
 * while the caller still has time.
 */
export const openTable = (name: string): Table => ({
  client: documentClient(
    new DynamoDBClient({
      maxAttempts: 3,
      requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
    }),
  ),
  name,
});
