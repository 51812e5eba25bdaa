import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';

/** IAM's names of DynamoDB's item operations; a transaction needs those of its members. */
type ItemAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'BatchWriteItem'
  | 'ConditionCheckItem';

export interface TableAccess {
  readonly actions: readonly ItemAction[];
  /** Partition keys that may be touched; `*` stands for any characters. Of the index, where one is named. */
  readonly partitions: readonly string[];
  /** Name of the index to read instead of the table. */
  readonly index?: string;
}

/** The partitions of each action on the table or on one index: [index, action, partitions]. */
const partitionsByAction = (accesses: readonly TableAccess[]) => {
  const found = new Map<string, { index: string | undefined; action: ItemAction; partitions: Set<string> }>();
  for (const { actions, partitions, index } of accesses) {
    for (const action of actions) {
      const id = `${index ?? ''}/${action}`;
      const known = found.get(id);
      found.set(id, { index, action, partitions: new Set([...(known?.partitions ?? []), ...partitions]) });
    }
  }
  return [...found.values()];
};

/**
 * Allows a function to use items of some partitions, and nothing else of the table. Call it once for a function, with all it needs:
 * each action is in one statement, with all its partitions. A transaction or batch names several partitions, and the condition may
 * be judged for all keys of a request at once: keys spread over several statements would satisfy none of them. For the same reason
 * the actions of one transaction belong in one access, with all partitions that the transaction writes.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
 */
export const grantItems = (grantee: IGrantable, table: ITable, ...accesses: readonly TableAccess[]): void => {
  const statements = Map.groupBy(
    partitionsByAction(accesses),
    ({ index, partitions }) => `${index ?? ''} ${[...partitions].sort().join(' ')}`,
  );
  for (const sameKeys of statements.values()) {
    const [{ index, partitions } = { index: undefined, partitions: new Set<string>() }] = sameKeys;
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        actions: sameKeys.map(({ action }) => `dynamodb:${action}`),
        resources: [index === undefined ? table.tableArn : `${table.tableArn}/index/${index}`],
        conditions: {
          'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...partitions] },
          // "For all values" is true of none: a request without keys must not slip through.
          Null: { 'dynamodb:LeadingKeys': 'false' },
        },
      }),
    );
  }
};
