import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EmulatedTable, emulatedTable } from '../../../fixtures/emulated-table.ts';
import { AwsCallError } from '../../../lambda/aws/aws-json.ts';
import { cancellationCodes, isConditionFailed } from '../../../lambda/data/table/refusal.ts';
import { type TableCall, tableCall } from '../../../lambda/data/table/table.ts';

describe('the table', () => {
  let table: EmulatedTable;
  let call: TableCall;
  const TableName = 'spend';
  beforeAll(async () => {
    table = await emulatedTable();
    call = table.call;
  });
  afterAll(() => table.stop());

  const key = { pk: 'a', sk: 'b' };
  const item = {
    ...key,
    text: '☃ "\u0000',
    number: -1.5,
    yes: true,
    nothing: null,
    bytes: Buffer.from([0, 255]),
    list: [1, 'two', { three: 3 }],
    names: new Set(['x', 'y']),
  };
  const keptValues = { ...item, sum: 2n ** 60n };

  it('keeps every kind of value, as the SDK reads it', async () => {
    await call('PutItem', { TableName, Item: { ...keptValues, left: undefined } });
    const { Item } = await call('GetItem', { TableName, Key: key });
    expect(Item).toEqual(keptValues);
    const client = new DynamoDBClient({
      endpoint: table.endpoint,
      region: 'eu-central-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    const ofSdk = await DynamoDBDocumentClient.from(client).send(new GetCommand({ TableName, Key: key }));
    expect({ ...ofSdk.Item, bytes: Buffer.from(ofSdk.Item?.['bytes']) }).toEqual(keptValues);
    client.destroy();
  });

  it('reads pages from where the last one ended, batches and transactions', async () => {
    const keys = ['1', '2', '3'].map((sk) => ({ pk: 'pages', sk }));
    await call('TransactWriteItems', { TransactItems: keys.map((Item) => ({ Put: { TableName, Item } })) });
    const query = {
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'pages' },
      Limit: 2,
    };
    const first = await call('Query', query);
    const rest = await call('Query', { ...query, ExclusiveStartKey: first.LastEvaluatedKey });
    expect([...(first.Items ?? []), ...(rest.Items ?? [])]).toEqual(keys);
    await call('BatchWriteItem', { RequestItems: { [TableName]: [{ DeleteRequest: { Key: keys[0] } }] } });
    const { Responses } = await call('BatchGetItem', { RequestItems: { [TableName]: { Keys: keys } } });
    expect(Responses?.[TableName]).toHaveLength(2);
  });

  it('says which condition failed', async () => {
    const ConditionExpression = 'attribute_not_exists(pk)';
    await call('PutItem', { TableName, Item: item });
    const refused = await call('PutItem', { TableName, Item: item, ConditionExpression }).catch((error) => error);
    expect(isConditionFailed(refused)).toBe(true);
    expect(cancellationCodes(refused)).toBeUndefined();
    const other = { TableName, Item: { pk: 'other', sk: '1' } };
    const cancelled = await call('TransactWriteItems', {
      TransactItems: [{ Put: other }, { Put: { TableName, Item: item, ConditionExpression } }],
    }).catch((error) => error);
    expect(cancellationCodes(cancelled)).toEqual(['None', 'ConditionalCheckFailed']);
    expect(isConditionFailed(cancelled)).toBe(false);
  });
});

describe('a transaction that is sent again', () => {
  const inputs: Record<string, unknown>[] = [];
  const failing = tableCall(async (_, input) => {
    inputs.push(input as Record<string, unknown>);
    if (inputs.length < 3) throw new AwsCallError({ __type: 'x#InternalServerError' }, 500);
    return {};
  });

  it('has the same token, and the next one another', async () => {
    await failing('TransactWriteItems', { TransactItems: [] });
    await failing('TransactWriteItems', { TransactItems: [] });
    const [first, second, third, next] = inputs.map(({ ClientRequestToken }) => ClientRequestToken);
    expect(first).toMatch(/^[-\da-f]{36}$/);
    expect([second, third]).toEqual([first, first]);
    expect(next).not.toBe(first);
  });
});
