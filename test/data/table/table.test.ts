import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it, jest } from '@jest/globals';
import { emulatedTable } from '../../../fixtures/emulated-table.ts';
import { documentClient } from '../../../lambda/data/table/table.ts';

describe('documentClient', () => {
  it('logs neither a call that succeeds nor one that fails', async () => {
    const table = await emulatedTable();
    try {
      const logged = jest.fn();
      const logger = { debug: () => {}, info: logged, warn: () => {}, error: logged };
      const client = documentClient(
        new DynamoDBClient({
          endpoint: table.endpoint,
          region: 'eu-central-1',
          credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
          logger,
        }),
      );
      await client.send(new GetCommand({ TableName: table.name, Key: { pk: 'a', sk: 'b' } }));
      await expect(client.send(new GetCommand({ TableName: 'none', Key: { pk: 'a', sk: 'b' } }))).rejects.toThrow();
      expect(logged).not.toHaveBeenCalled();
      client.destroy();
    } finally {
      await table.stop();
    }
  });
});
