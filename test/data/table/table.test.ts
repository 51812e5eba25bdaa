import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it, jest } from '@jest/globals';
import { documentClient } from '../../../lambda/data/table/table.ts';
import { emulatedTable } from '../emulated-table.ts';

describe('documentClient', () => {
  it('makes no copy of a call for a logger: neither of one that succeeds nor of one that fails', async () => {
    const table = await emulatedTable();
    try {
      const said = jest.fn();
      const logger = { debug: () => {}, info: said, warn: () => {}, error: said };
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
      expect(said).not.toHaveBeenCalled();
      client.destroy();
    } finally {
      await table.stop();
    }
  });
});
