import type { Key } from './keys.ts';

type Item = Record<string, unknown>;
type Values = Readonly<Record<string, unknown>>;

interface Expressions {
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Item;
}

/** Effect of one write, as DynamoDB takes it, apart from the table's name. */
export type Write =
  | { readonly Put: Expressions & { readonly Item: Item } }
  | { readonly Update: Expressions & { readonly Key: Item; readonly UpdateExpression: string } }
  | { readonly Delete: Expressions & { readonly Key: Item } };

/** Effect of one action of a transaction. */
export type Action =
  | Write
  | { readonly ConditionCheck: Expressions & { readonly Key: Item; readonly ConditionExpression: string } };

/** A transaction has no more. @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html */
export const MAX_ACTIONS = 100;

export const IS_NEW = 'attribute_not_exists(pk)';
export const EXISTS = 'attribute_exists(pk)';

/** The names (`#status`) and values (`:status`) that expressions refer to. Values that are undefined are left out. */
export const expressionAttributes = (
  expressions: string,
  values: Values = {},
): Pick<Expressions, 'ExpressionAttributeNames' | 'ExpressionAttributeValues'> => {
  const names = new Set(expressions.match(/#\w+/g));
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return {
    ...(names.size > 0 && {
      ExpressionAttributeNames: Object.fromEntries([...names].map((each) => [each, each.slice(1)])),
    }),
    ...(given.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(given.map(([each, value]) => [`:${each}`, value])),
    }),
  };
};

const conditional = (condition: string | undefined, values: Values | undefined) =>
  condition === undefined ? {} : { ConditionExpression: condition, ...expressionAttributes(condition, values) };

/** @param values those of the condition by name, without colon; so in the functions below */
export const put = (item: object, condition?: string, values?: Values) => ({
  Put: { Item: { ...item }, ...conditional(condition, values) },
});

/** @param condition null where there is none */
export const update = ({ pk, sk }: Key, change: string, condition: string | null, values?: Values) => ({
  Update: {
    Key: { pk, sk },
    UpdateExpression: change,
    ...(condition !== null && { ConditionExpression: condition }),
    ...expressionAttributes(`${change} ${condition ?? ''}`, values),
  },
});

export const remove = ({ pk, sk }: Key, condition?: string, values?: Values) => ({
  Delete: { Key: { pk, sk }, ...conditional(condition, values) },
});

/** Fails a transaction where the condition does not hold. */
export const check = ({ pk, sk }: Key, condition: string, values?: Values) => ({
  ConditionCheck: { Key: { pk, sk }, ConditionExpression: condition, ...expressionAttributes(condition, values) },
});
