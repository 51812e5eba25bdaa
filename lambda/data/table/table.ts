import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The one table, as every repository uses it. */
export interface Table {
  readonly client: DynamoDBDocumentClient;
  readonly name: string;
}

/**
 * A client for plain JavaScript values, without the SDK's logger middleware. Even where no logger is set, that middleware copies the input
 * and output of every call. For a page of a query or a full transaction, copying takes longer than signing.
 */
export const documentClient = (dynamoDb: DynamoDBClient): DynamoDBDocumentClient => {
  dynamoDb.middlewareStack.remove('loggerMiddleware');
  return DynamoDBDocumentClient.from(dynamoDb, { marshallOptions: { removeUndefinedValues: true } });
};

/**
 * Opens the table by name. Region, endpoint and credentials come from the environment, as everywhere in the SDK. By default the SDK has
 * no timeouts. The table responds in milliseconds, so these timeouts leave time to retry.
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
