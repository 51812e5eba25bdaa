import { randomFrom as numbersFrom } from '../../ops/meter/random.ts';

/** Random numbers that can be repeated by their seed. */
export interface Random {
  /** 0 up to, not including, `limit`. */
  below(limit: number): number;
  pick<T>(values: readonly T[]): T;
  shuffled<T>(values: readonly T[]): T[];
}

export const randomFrom = (seed: number): Random => {
  const next = numbersFrom(seed);
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
