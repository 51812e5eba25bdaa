import type { Day } from '../../domain/calendar/utc.ts';
import type { Bill } from '../../domain/reconciliation/bill.ts';

/** Where a provider's bill is read. */
export interface BillSource {
  /** Kind of credential it takes, for people. */
  readonly credential: string;
  /** Days that one read may ask for. */
  readonly maxDays: number;
  /**
   * The bill of some days, first and last included. A day that the provider has not closed may still change.
   *
   * @throws BillError
   */
  read(credential: string, range: { readonly from: Day; readonly to: Day }): Promise<Bill>;
}

/** The bill cannot be read. The message is for people and has nothing of the credential or the response. */
export class BillError extends Error {
  override readonly name = 'BillError';
  /** True where the same credential will not be accepted later either. */
  readonly isRefused: boolean;

  constructor(message: string, isRefused = false) {
    super(message);
    this.isRefused = isRefused;
  }
}
