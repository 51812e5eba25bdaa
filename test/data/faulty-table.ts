import type { Table } from '../../lambda/data/table/table.ts';

/** Replaces, precedes or follows a call to the table. */
export type Fault = (command: object, send: () => Promise<unknown>) => Promise<unknown>;

/** The same table, with every call passed through a fault. */
export const faultyTable = (table: Table, fault: Fault): Table => {
  const send = (command: never) => fault(command, () => table.client.send(command));
  const client = new Proxy(table.client, {
    get: (target, name) => (name === 'send' ? send : Reflect.get(target, name)),
  });
  return { ...table, client };
};
