import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { openTable as openTableOfEnvironment, type Table } from '../lambda/data/table/table.ts';

/**
 * Opens the table by name, in the region and with the credentials that the AWS CLI would take: of the environment, a profile or a role.
 * @throws Error when no region is set
 */
export const openTable = async (name: string): Promise<Table> => {
  const { config } = new DynamoDBClient();
  const variables = { ...process.env, AWS_REGION: await config.region() };
  return openTableOfEnvironment(name, variables, config.credentials);
};
