import type { Table } from '../../lambda/data/table/table.ts';

/** What a call to the table meets instead of, before or after the real thing. */
export type Fault = (command: object, send: () => Promise<unknown>) => Promise<unknown>;

/** The same table, where every call passes a fault first. */
export const faultyTable = (table: Table, fault: Fault): Table => {
  const send = (command: never) => fault(command, () => table.client.send(command));
  const client = new Proxy(table.client, {
    get: (target, name) => (name === 'send' ? send : Reflect.get(target, name)),
  });
  return { ...table, client };
};
