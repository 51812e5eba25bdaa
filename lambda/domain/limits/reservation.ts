import type * as z from 'zod/mini';
import type { reservationSchema } from '../usage/usage-event.ts';

/*
 * A budget that is enforced by reservations has one item for each period: what is spent and what is reserved. The gateway reserves the
 * most that a request may cost, in one conditional write; the recorder replaces that by the cost, with the record. This file imports
 * nothing at run time.
 */

export type Reservation = z.infer<typeof reservationSchema>;

/** The name of a period in keys. */
export const periodId = ({ name, start }: { readonly name: string; readonly start: string }): string =>
  `${name}#${start}`;

/**
 * After this time, counted from the start of its minute, a reservation is freed, even if its request still runs: the evaluator's run is a
 * minute later at most, so that nothing stays for more than 15 minutes.
 */
export const RESERVATION_MINUTES = 14;

/** The same of a response that is made in the background, whose result is fetched later: a day, counted from the start of its hour. */
const PENDING_HOURS = 24;

/** True where a reservation is freed. @param member of its item: `m` and a minute, or `p` and an hour */
export const isOldReservation = (member: string, nowMs: number): boolean =>
  member.startsWith('m')
    ? Number(member.slice(1)) <= Math.floor(nowMs / 60_000) - RESERVATION_MINUTES
    : Number(member.slice(1)) <= Math.floor(nowMs / 3_600_000) - PENDING_HOURS;
