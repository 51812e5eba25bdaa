import * as z from 'zod/mini';
import type { Reservation } from '../../domain/limits/reservation.ts';
import { reservationSchema } from '../../domain/usage/usage-event.ts';
import { batchRead } from '../table/batch.ts';
import { countedResponseKey, type Key } from '../table/keys.ts';
import { readItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';

/** A response that can be fetched again, by the id that the provider gave it. */
export interface ResponseName {
  readonly accountId: string;
  readonly provider: string;
  readonly responseId: string;
}

const key = { pk: z.string(), sk: z.string() };
/** A response is counted, or awaited. */
const stored = z.union([
  z.object({ ...key, requestId: z.string() }),
  z.object({ ...key, reservations: z.array(reservationSchema) }),
]);

/** By responseKeyText. */
export interface KnownResponses {
  /** Ids of the requests that the responses are counted with. */
  readonly countedWith: ReadonlyMap<string, string>;
  /** Reservations of responses until they are counted. */
  readonly awaited: ReadonlyMap<string, readonly Reservation[]>;
}

const keyOf = ({ accountId, provider, responseId }: ResponseName): Key =>
  countedResponseKey(accountId, provider, responseId);
const textOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

/** One text for each response. */
export const responseKeyText = (name: ResponseName): string => textOf(keyOf(name));

/** Which responses the ledger counts, each with one request. */
export const openCountedResponses = (table: Table) => ({
  /** @throws UnreadableItemError */
  find: async (names: readonly ResponseName[]): Promise<KnownResponses> => {
    const keys = new Map(names.map((name) => [responseKeyText(name), keyOf(name)]));
    const items = (await batchRead(table, [...keys.values()], { consistent: true })).map((item) =>
      readItem(() => stored.parse(item)),
    );
    return {
      countedWith: new Map(items.flatMap((item) => ('requestId' in item ? [[textOf(item), item.requestId]] : []))),
      awaited: new Map(items.flatMap((item) => ('requestId' in item ? [] : [[textOf(item), item.reservations]]))),
    };
  },
});
