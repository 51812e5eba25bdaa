import { conditionFailed } from '../../../fixtures/intercept-table.ts';
import type { Table } from '../../../lambda/data/table/table.ts';
import { type AwsCall, AwsCallError } from '../../../lambda/gateway/aws/aws-json.ts';

type Item = Record<string, number | string>;

interface UpdateInput {
  readonly Key?: Readonly<Record<string, unknown>> | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>> | undefined;
}

type Attribute = { readonly S?: string; readonly N?: string };

const plain = (attributes: Readonly<Record<string, Attribute>> = {}): Item =>
  Object.fromEntries(Object.entries(attributes).map(([name, { S, N }]) => [name, S ?? Number(N)]));

const marshalled = (item: Item): Record<string, Attribute> =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      typeof value === 'string' ? { S: value } : { N: String(value) },
    ]),
  );

/** A table in memory that understands the expressions of reservations and no others: a million of them take seconds. */
export const expressionTable = () => {
  const items = new Map<string, Item>();
  const nameOf = (key: UpdateInput['Key']): string => `${key?.['pk']} ${key?.['sk']}`;

  const holds = (item: Item | undefined, input: UpdateInput): boolean => {
    const values = input.ExpressionAttributeValues ?? {};
    const name = (text: string): string => input.ExpressionAttributeNames?.[text] ?? text;
    const term = (text: string): boolean => {
      const [, not, exists] = /^attribute_(not_)?exists\((\S+)\)$/.exec(text) ?? [];
      if (exists !== undefined) return (item?.[name(exists)] === undefined) === (not !== undefined);
      const [left = '', operator, right = ''] = text.split(' ');
      const value = item?.[name(left)];
      if (operator === '=') return value === values[right];
      if (operator === '<=') return value !== undefined && Number(value) <= Number(values[right]);
      throw new Error(`not understood: ${text}`);
    };
    const { ConditionExpression: condition } = input;
    if (condition === undefined) return true;
    return condition.split(' OR ').some((part) => part.split(' AND ').every(term));
  };

  /** False where its condition fails. */
  const update = (input: UpdateInput): boolean => {
    const id = nameOf(input.Key);
    const before = items.get(id);
    if (!holds(before, input)) return false;
    const item: Item = { ...before };
    const values = input.ExpressionAttributeValues ?? {};
    const name = (text: string): string => input.ExpressionAttributeNames?.[text] ?? text;
    const parts = (input.UpdateExpression ?? '').split(/\b(SET|ADD|REMOVE) /).slice(1);
    for (let i = 0; i < parts.length; i += 2) {
      for (const clause of (parts[i + 1] as string).split(/, (?![^(]*\))/)) {
        const text = clause.trim();
        if (parts[i] === 'REMOVE') delete item[name(text)];
        else if (parts[i] === 'ADD') {
          const [target = '', value = ''] = text.split(' ');
          item[name(target)] = Number(item[name(target)] ?? 0) + Number(values[value]);
        } else {
          const [target = '', source = ''] = text.split(' = ');
          const value = /:\w+/.exec(source)?.[0] ?? '';
          if (!source.startsWith('if_not_exists') || item[name(target)] === undefined)
            item[name(target)] = values[value] as number;
        }
      }
    }
    items.set(id, item);
    return true;
  };

  const call: AwsCall = async (operation, input) => {
    if (operation === 'BatchGetItem') {
      const { RequestItems } = input as { RequestItems: Record<string, { Keys: Record<string, Attribute>[] }> };
      const [name = '', { Keys } = { Keys: [] }] = Object.entries(RequestItems)[0] ?? [];
      const found = Keys.map(plain).flatMap((key) => {
        const item = items.get(nameOf(key));
        return item ? [marshalled({ ...item, ...key })] : [];
      });
      return { Responses: { [name]: found } };
    }
    const { ExpressionAttributeValues, Key, ...rest } = input as UpdateInput;
    const values = plain(ExpressionAttributeValues as Record<string, Attribute>);
    const key = plain(Key as Record<string, Attribute>);
    if (operation !== 'UpdateItem') throw new Error(`not understood: ${operation}`);
    if (update({ ...rest, Key: key, ExpressionAttributeValues: values })) return {};
    const Item = marshalled(items.get(nameOf(key)) ?? {});
    throw new AwsCallError({ __type: 'ConditionalCheckFailedException', Item }, 400);
  };

  const tableCall = async (operation: string, input: UpdateInput): Promise<unknown> => {
    if (operation === 'GetItem') return { Item: items.get(nameOf(input.Key)) };
    if (operation !== 'UpdateItem') throw new Error(`not understood: ${operation}`);
    if (update(input)) return {};
    throw conditionFailed();
  };

  return {
    items,
    update,
    call,
    nameOf,
    table: { name: 'table', call: tableCall } as unknown as Table,
  };
};
