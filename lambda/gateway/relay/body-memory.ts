/** As many as four of the largest bodies that are read whole, or a thousand of 64 KB. */
const MAX_ACCOUNT_BYTES = 64 * 2 ** 20;

const bytesOfAccount = new Map<string, number>();

/** Bytes of one request's body that are in memory. */
export interface BodyMemory {
  /** False where the account would hold too many: then they are not counted. */
  add(bytes: number): boolean;
  /** May be called again. */
  release(): void;
}

/**
 * Bounds what one account's bodies take in this process while they are read whole.
 *
 * @param account any name that its requests share
 */
export const bodyMemory = (account: string): BodyMemory => {
  let taken = 0;
  return {
    add: (bytes) => {
      const total = (bytesOfAccount.get(account) ?? 0) + bytes;
      if (total > MAX_ACCOUNT_BYTES) return false;
      bytesOfAccount.set(account, total);
      taken += bytes;
      return true;
    },
    release: () => {
      const left = (bytesOfAccount.get(account) ?? 0) - taken;
      taken = 0;
      if (left > 0) bytesOfAccount.set(account, left);
      else bytesOfAccount.delete(account);
    },
  };
};
