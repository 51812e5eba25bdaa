/** Names that answers give to models which are sold under another. */
const aliases: Readonly<Record<string, string>> = {
  'davinci:2023-07-21-v2': 'davinci-002',
  'babbage:2023-07-21-v2': 'babbage-002',
};

/** `-20251001`, `-2025-10-01`, and OpenRouter's `:nitro`, which changes the route and not the list price. */
const DATED = /-20\d{2}-?\d{2}-?\d{2}$/;
const ROUTE = /:(nitro|floor|exacto|online|beta|extended|thinking)$/;

/**
 * The names to look a model up by, the nearest first: as given, then without what books leave out. A fine-tuned model
 * (`ft:…`) is never taken for its base, which is cheaper.
 */
export const modelNames = (model: string): readonly string[] => {
  const given = model
    .trim()
    .toLowerCase()
    .replace(/^models\//, '');
  const name = aliases[given] ?? given;
  if (name.startsWith('ft:')) return [name];
  const unrouted = name.replace(ROUTE, '');
  return [...new Set([name, unrouted, unrouted.replace(DATED, '')])].filter((candidate) => candidate !== '');
};
