import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileAtomically } from '../emulators/atomic-file.ts';

/** What is kept of Stripe's objects. Instants are epoch seconds, as in Stripe's API. */

export interface Customer {
  readonly id: string;
  readonly created: number;
  readonly email: string | null;
  readonly name: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  isDeleted: boolean;
  /** Number of the card that is charged. */
  card: string | null;
}

export interface Checkout {
  readonly id: string;
  readonly created: number;
  readonly expiresAt: number;
  readonly customer: string;
  readonly price: string;
  readonly successUrl: string;
  readonly cancelUrl: string | null;
  readonly clientReferenceId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly subscriptionMetadata: Readonly<Record<string, string>>;
  status: 'open' | 'complete' | 'expired';
  subscription: string | null;
}

export interface PortalSession {
  readonly id: string;
  readonly created: number;
  readonly customer: string;
  readonly returnUrl: string;
  /** The change it asks consent to; then it leads back to `doneUrl`. */
  readonly change: { readonly subscription: string; readonly price: string; readonly doneUrl: string } | null;
}

export interface Subscription {
  readonly id: string;
  readonly itemId: string;
  readonly created: number;
  readonly customer: string;
  readonly metadata: Readonly<Record<string, string>>;
  status: 'active' | 'past_due' | 'unpaid' | 'paused' | 'canceled';
  price: string;
  /** Months since `created` at which the period began. */
  months: number;
  periodStart: number;
  periodEnd: number;
  cancelAtPeriodEnd: boolean;
  canceledAt: number | null;
}

export interface Invoice {
  readonly id: string;
  readonly created: number;
  readonly customer: string;
  readonly subscription: string;
  readonly amount: number;
  status: 'open' | 'paid' | 'void';
  attempts: number;
  /** When it is charged again; null where that has been given up, or is not needed. */
  nextAttempt: number | null;
}

export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  /** What is sent, as text: every delivery has the same bytes. */
  readonly payload: string;
  attempts: number;
  /** `undelivered`: given up. */
  delivery: 'pending' | 'delivered' | 'undelivered';
}

interface Stored {
  /** By how much its clock is ahead of this machine's. */
  aheadSeconds: number;
  customers: Customer[];
  checkouts: Checkout[];
  portals: PortalSession[];
  subscriptions: Subscription[];
  invoices: Invoice[];
  events: StripeEvent[];
}

const empty = (): Stored => ({
  aheadSeconds: 0,
  customers: [],
  checkouts: [],
  portals: [],
  subscriptions: [],
  invoices: [],
  events: [],
});

export type Store = Stored & {
  /** By its clock. */
  now(): number;
  newId(prefix: string): string;
  /** Keeps what it holds, if it has a file. */
  save(): void;
};

/** Everything in memory, and in one JSON file where one is named. */
export const openStore = (file: string | undefined): Store => {
  const stored =
    file && existsSync(file) ? { ...empty(), ...(JSON.parse(readFileSync(file, 'utf8')) as Stored) } : empty();
  if (file) mkdirSync(dirname(file), { recursive: true });
  return Object.assign(stored, {
    now: () => Math.floor(Date.now() / 1_000) + stored.aheadSeconds,
    newId: (prefix: string) => `${prefix}_local_${randomBytes(9).toString('hex')}`,
    save: () => {
      if (file) writeFileAtomically(file, JSON.stringify(stored));
    },
  });
};
