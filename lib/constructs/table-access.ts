import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Effect, type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';

/** What IAM calls the parts of DynamoDB's item operations; a transaction needs those of its members. */
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

/**
 * Lets a function at items of some partitions, and at nothing else of the table.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
 */
export const grantItems = (grantee: IGrantable, table: ITable, ...accesses: readonly TableAccess[]): void => {
  for (const { actions, partitions, index } of accesses) {
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: actions.map((action) => `dynamodb:${action}`),
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
