/** Random numbers that can be repeated by their seed (mulberry32). */
export interface Random {
  /** 0 up to, not including, `limit`. */
  below(limit: number): number;
  pick<T>(values: readonly T[]): T;
  shuffled<T>(values: readonly T[]): T[];
}

export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    pick: (values) => values[below(values.length)] as (typeof values)[number],
    shuffled: (values) => {
      const result = [...values];
      for (let i = result.length - 1; i > 0; i--) {
        const j = below(i + 1);
        [result[i], result[j]] = [result[j] as (typeof values)[number], result[i] as (typeof values)[number]];
      }
      return result;
    },
  };
};
