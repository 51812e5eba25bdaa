import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { AwsCall } from '../../lambda/gateway/aws/aws-json.ts';

interface Consumed {
  readonly CapacityUnits?: number;
}

export interface UnitCounter {
  /** The units since it was asked last. */
  take(): number;
  /** The same call to DynamoDB, counted. */
  counted(call: AwsCall): AwsCall;
}

/** Adds up the read and write units that DynamoDB would charge for what a client does. */
export const unitCounter = (client: DynamoDBDocumentClient): UnitCounter => {
  let units = 0;
  const add = (output: object): void => {
    const { ConsumedCapacity: consumed } = output as { ConsumedCapacity?: Consumed | Consumed[] };
    for (const each of [consumed ?? []].flat()) units += each.CapacityUnits ?? 0;
  };
  const asking = (input: object) => ({ ...input, ReturnConsumedCapacity: 'TOTAL' });
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next({ ...args, input: asking(args.input as object) } as typeof args);
      add(result.output as object);
      return result;
    },
    { step: 'initialize', name: 'countUnits' },
  );
  return {
    take: () => {
      const taken = units;
      units = 0;
      return taken;
    },
    counted: (call) => async (operation, input, timeoutMs) => {
      const output = await call(operation, asking(input), timeoutMs);
      add(output);
      return output;
    },
  };
};
