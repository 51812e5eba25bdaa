import type { Table } from '../../lambda/data/table/table.ts';
import type { AwsCall } from '../../lambda/gateway/aws/aws-json.ts';

interface Consumed {
  readonly CapacityUnits?: number;
}

export interface UnitCounter {
  /** The units since it was asked last. */
  take(): number;
  countedTable(table: Table): Table;
  /** The same for a call of the gateway. */
  counted(call: AwsCall): AwsCall;
}

/** Adds up the read and write units that DynamoDB would charge. */
export const unitCounter = (): UnitCounter => {
  let units = 0;
  const add = (output: object): void => {
    const { ConsumedCapacity: consumed } = output as { ConsumedCapacity?: Consumed | Consumed[] };
    for (const each of [consumed ?? []].flat()) units += each.CapacityUnits ?? 0;
  };
  const asking = (input: object) => ({ ...input, ReturnConsumedCapacity: 'TOTAL' });
  return {
    take: () => {
      const taken = units;
      units = 0;
      return taken;
    },
    countedTable: (table) => ({
      ...table,
      call: async (operation, input) => {
        const output = await table.call(operation, asking(input) as typeof input);
        add(output);
        return output;
      },
    }),
    counted: (call) => async (operation, input, timeoutMs) => {
      const output = await call(operation, asking(input), timeoutMs);
      add(output);
      return output;
    },
  };
};
