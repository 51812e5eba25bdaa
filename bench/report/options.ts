import { z } from 'zod';
import { readOptions, wholeNumber } from '../../ops/command.ts';

type Default = number | readonly number[] | string;
type Value<D extends Default> = D extends string ? string : D extends number ? number : readonly number[];

const several = z
  .string()
  .regex(/^[1-9]\d*(,[1-9]\d*)*$/, 'takes whole numbers above 0, with commas between')
  .transform((text) => text.split(',').map(Number));

const typeOf = (value: Default): z.ZodType<Default> => {
  if (typeof value === 'string') return z.string().default(value);
  return typeof value === 'number' ? wholeNumber.min(1).default(value) : several.default([...value]);
};

/** The options of a benchmark. Each takes what its default is: a whole number above 0, several with commas between, or a text. */
export const benchOptions = <D extends Record<string, Default>>(name: string, defaults: D) => {
  const lines = Object.entries(defaults).map(([option, value]) => `  --${option} (default: ${value})`);
  return readOptions({
    usage: [`npm run bench -- ${name} [OPTION…]`, '', ...lines].join('\n'),
    schema: z.object(Object.fromEntries(Object.entries(defaults).map(([option, value]) => [option, typeOf(value)]))),
  }) as { [K in keyof D]: Value<D[K]> };
};
